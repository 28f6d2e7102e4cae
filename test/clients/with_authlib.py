import sys
from urllib.parse import parse_qs, urlsplit

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url

sys.path.insert(0, f"{sys.path[0]}/support")
from story import *

metadata = AuthorizationServerMetadata(requests.get(get_well_known_url(ISSUER, external=True)).json())
metadata.validate()


def session(secret=CLIENT_SECRET, **more):
    return OAuth2Session(CLIENT_ID, secret, **more)


class Client:
    metadata = metadata
    user = session(scope=SCOPE, redirect_uri=REDIRECT_URI, code_challenge_method="S256")
    code_verifier = generate_token(48)
    authorization_url, state = user.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=code_verifier
    )

    def exchange(self, callback):
        # The application looks for an error itself: fetch_token takes a callback without a code for a wish for a token of
        # the application's own (client_credentials).
        parameters = parse_qs(urlsplit(callback).query)
        if "error" in parameters:
            raise AuthlibBaseError(parameters["error"][0], parameters["error_description"][0])
        if parameters.get("iss") != [ISSUER]:
            raise ValueError("the answer is from another server")
        return self.user.fetch_token(
            metadata["token_endpoint"],
            authorization_response=callback,
            state=self.state,
            code_verifier=self.code_verifier,
        )

    def call(self, url, token):
        return session(token=token).get(url, headers=API_HEADERS)

    def refresh(self, token):
        return self.user.refresh_token(metadata["token_endpoint"], refresh_token=token)

    def introspect(self, token):
        return self.user.introspect_token(metadata["introspection_endpoint"], token=token).json()

    def revoke(self, token):
        self.user.revoke_token(metadata["revocation_endpoint"], token=token).raise_for_status()

    def own_token(self):
        return self.own_token_with(CLIENT_SECRET)

    def own_token_with(self, secret):
        return session(secret, scope=APP_SCOPE).fetch_token(
            metadata["token_endpoint"], grant_type="client_credentials"
        )


live(Client())
