import sys

import requests
from oauthlib.oauth2 import BackendApplicationClient, WebApplicationClient
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

sys.path.insert(0, f"{sys.path[0]}/support")
from story import *

metadata = requests.get(f"{ISSUER}/.well-known/oauth-authorization-server").json()


class Client:
    metadata = metadata
    # From version 1.4 on, OAuth2Session(..., pkce="S256") does these three lines.
    web = WebApplicationClient(CLIENT_ID)
    code_verifier = web.create_code_verifier(48)
    code_challenge = web.create_code_challenge(code_verifier, "S256")

    user = OAuth2Session(client=web, scope=SCOPE.split(), redirect_uri=REDIRECT_URI)
    authorization_url, state = user.authorization_url(
        metadata["authorization_endpoint"], code_challenge=code_challenge, code_challenge_method="S256"
    )

    def exchange(self, callback):
        return self.user.fetch_token(
            metadata["token_endpoint"],
            authorization_response=callback,
            client_secret=CLIENT_SECRET,
            code_verifier=self.code_verifier,
        )

    def call(self, url, token):
        return OAuth2Session(CLIENT_ID, token=token).get(url, headers=API_HEADERS)

    def refresh(self, token):
        return self.user.refresh_token(
            metadata["token_endpoint"], refresh_token=token, client_id=CLIENT_ID, client_secret=CLIENT_SECRET
        )

    # The library knows neither introspection nor revocation; these are the two requests that they are.
    def introspect(self, token):
        return self.post("introspection_endpoint", token).json()

    def revoke(self, token):
        self.post("revocation_endpoint", token).raise_for_status()

    def post(self, endpoint, token):
        return requests.post(metadata[endpoint], data={"token": token}, auth=HTTPBasicAuth(CLIENT_ID, CLIENT_SECRET))

    def own_token(self):
        return self.own_token_with(CLIENT_SECRET)

    def own_token_with(self, secret):
        app = OAuth2Session(client=BackendApplicationClient(CLIENT_ID, scope=APP_SCOPE.split()))
        return app.fetch_token(metadata["token_endpoint"], client_id=CLIENT_ID, client_secret=secret)


live(Client())
