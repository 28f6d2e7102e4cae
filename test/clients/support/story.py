"""The story of story.mjs, for clients in Python: the same steps, the same words, the same one JSON object at the end."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

ISSUER = os.environ["ISSUER"]
CLIENT_ID = os.environ["CLIENT_ID"]
CLIENT_SECRET = os.environ["CLIENT_SECRET"]
REDIRECT_URI = os.environ["REDIRECT_URI"]
SCOPE = os.environ["SCOPE"]
APP_SCOPE = os.environ["APP_SCOPE"]

USER_URL = ISSUER + "/api/app-platform/oauth/me"
APP_URL = ISSUER + "/api/app-platform/me"


def live(metadata, authorization_url, exchange, refresh, introspect, revoke, own_token, call):
    print(authorization_url, flush=True)
    callback = input()
    if "error=" in callback:
        return tell({"denied": refusal_of(lambda: exchange(callback))})

    story = {"metadata": metadata}
    exchanged = story["exchanged"] = exchange(callback)
    story["user"] = answer(call(USER_URL, exchanged))
    # Two workers of the app refresh at once.
    with ThreadPoolExecutor(2) as workers:
        both = list(workers.map(refresh, [exchanged["refresh_token"]] * 2))
    refreshed, story["alsoRefreshed"] = both
    story["refreshed"] = refreshed
    story["replaced"] = challenge(call(USER_URL, exchanged))
    story["sameUser"] = answer(call(USER_URL, refreshed))
    story["introspected"] = introspect(refreshed["access_token"])
    story["introspectedReplaced"] = introspect(exchanged["access_token"])

    app_token = story["appToken"] = own_token()
    story["app"] = answer(call(APP_URL, app_token))
    story["introspectedApp"] = introspect(app_token["access_token"])
    story["wrongSecret"] = refusal_of(lambda: own_token(CLIENT_SECRET + "x"))

    revoke(refreshed["refresh_token"])
    story["afterRevoke"] = {
        "call": challenge(call(USER_URL, refreshed)),
        "refresh": refusal_of(lambda: refresh(refreshed["refresh_token"])),
        "code": refusal_of(lambda: exchange(callback)),
        "introspected": introspect(refreshed["access_token"]),
        "introspectedRefreshToken": introspect(refreshed["refresh_token"]),
    }
    revoke(refreshed["refresh_token"])  # once more does no harm: RFC 7009 section 2.2
    story["appAfterRevoke"] = answer(call(APP_URL, app_token))
    revoke(app_token["access_token"])
    story["revokedApp"] = challenge(call(APP_URL, app_token))
    tell(story)


def tell(story):
    print(json.dumps(story), flush=True)


def answer(response):
    response.raise_for_status()
    return response.json()


def challenge(response):
    """What a call of the API that has to fail was refused with, as `401 bearer invalid_token`."""
    scheme, _, parameters = response.headers.get("WWW-Authenticate", "none").partition(" ")
    error = parameters.partition('error="')[2].partition('"')[0]
    return f"{response.status_code} {scheme.lower()} {error}".strip()


def refusal_of(call):
    """How the client names what it was refused with."""
    try:
        call()
        return "none"
    except Exception as refusal:
        if not hasattr(refusal, "error"):
            raise
        return refusal.error
