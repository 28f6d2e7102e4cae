-- A link with an address confirms that the address is the person's, and sets it. One without an address sets a password.
ALTER TABLE password_links ADD COLUMN email text COLLATE "C";
