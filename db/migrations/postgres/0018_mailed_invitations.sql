-- The link in a mail is another one than the one that was shown: its secret is made when the mail is sent.
ALTER TABLE app_invitations ADD COLUMN mailed_hash bytea CHECK (length(mailed_hash) = 32);
