import hashlib, hmac, re, time

def is_signed(body: bytes, header: str, secret: str, now=None) -> bool:
    t, *signatures = (header or "").split(",")
    if not re.fullmatch("t=[0-9]{1,12}", t): return False
    if abs((time.time() if now is None else now) - int(t[2:])) > 300: return False
    right = "v1=" + hmac.new(secret.encode(), t[2:].encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(given.encode(), right.encode()) for given in signatures)
