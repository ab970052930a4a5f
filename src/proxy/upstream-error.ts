import type { Refusal } from "../core/refusal.ts";

/** What people can do about a connection that never came to be, by Node's error code. */
const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "its host name is not known",
  EAI_AGAIN: "its host name cannot be looked up now; is the network up?",
  EHOSTUNREACH: "there is no way to its host",
  ENETUNREACH: "the network is not reachable",
  ETIMEDOUT: "it did not accept a connection in time",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate chain has a self-signed one",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate cannot be verified",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate's issuer is not known here",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
  EPROTO: "it does not speak TLS as expected",
};

/**
 * Puts an upstream's transport error into words. Only the code is used: messages may name addresses and more.
 * `connected`: the upstream may have seen the request, so nothing is sent again and the client is told so.
 */
export function explainUpstreamError(error: Error, connected: boolean): Refusal {
  const code = codeOf(error);
  if (!connected) {
    return {
      code: "upstream_unreachable",
      message: `the upstream cannot be reached: ${UNREACHABLE[code] ?? code}; to see more, type: tollkeeper status`,
    };
  }
  if (code.startsWith("HPE_")) {
    return { code: "upstream_invalid", message: `the upstream's answer is not valid HTTP (${code})` };
  }
  return {
    code: "upstream_broke",
    message: `the upstream broke the connection before it answered (${code}); it may have seen the request`,
  };
}

function codeOf(error: Error): string {
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "string" ? code : "connection closed";
}
