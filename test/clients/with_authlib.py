import sys

sys.path.insert(0, f"{sys.path[0]}/support")
from story import APP_SCOPE, CLIENT_ID, CLIENT_SECRET, ISSUER, REDIRECT_URI, SCOPE, live

# region guide
import requests
from authlib.common.errors import AuthlibBaseError
from authlib.common.security import generate_token
from authlib.common.urls import urlparse
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url

server = AuthorizationServerMetadata(requests.get(get_well_known_url(ISSUER, external=True)).json())
server.validate()
user = OAuth2Session(
    CLIENT_ID, CLIENT_SECRET, scope=SCOPE, redirect_uri=REDIRECT_URI, code_challenge_method="S256"
)

# Keep the verifier and the state in the session of the browser that is sent to the URL.
code_verifier = generate_token(48)
authorization_url, state = user.create_authorization_url(
    server["authorization_endpoint"], code_verifier=code_verifier
)


def exchange(url):
    """url is what the browser came back to."""
    # Authlib leaves errors and the issuer (RFC 9207) to you. Without this, fetch_token would answer a callback
    # without a code with a request for an app token.
    answer = dict(urlparse.parse_qsl(urlparse.urlsplit(url).query))
    if answer.get("iss") != ISSUER:
        raise ValueError("This answer is from another server.")
    if "error" in answer:
        raise AuthlibBaseError(answer["error"], answer.get("error_description"))
    return user.fetch_token(
        server["token_endpoint"], authorization_response=url, state=state, code_verifier=code_verifier
    )
# endregion


def refresh(refresh_token):
    return user.refresh_token(server["token_endpoint"], refresh_token=refresh_token)


def introspect(token):
    return user.introspect_token(server["introspection_endpoint"], token=token).json()


def revoke(token):
    user.revoke_token(server["revocation_endpoint"], token=token).raise_for_status()


def own_token(secret=CLIENT_SECRET):
    app = OAuth2Session(CLIENT_ID, secret, scope=APP_SCOPE)
    return app.fetch_token(server["token_endpoint"], grant_type="client_credentials")


def call(url, token):
    return OAuth2Session(token=token).get(url, headers={"X-Service-Api-Version": "2026-08"})


live(server, authorization_url, exchange, refresh, introspect, revoke, own_token, call)
