import { codeOf } from "../../core/failure.ts";
import type { Refusal } from "../../core/http/refusal.ts";
import { NO_CODE, TunnelError, type TunnelErrorCode } from "./tunnel.ts";

/** Why a connection could not be opened. `fix` is what the user can do; null where that cannot be known here. */
export interface ConnectFailure {
  why: string;
  fix: string | null;
}

/** Words for Node's error codes. */
const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "its host name is not known",
  EAI_AGAIN: "its host name cannot be looked up now; is the network up?",
  EHOSTUNREACH: "there is no way to its host",
  ENETUNREACH: "the network is not reachable",
  ETIMEDOUT: "it did not accept a connection in time",
  CERT_HAS_EXPIRED: "its certificate has expired, or this machine's clock is wrong",
  CERT_NOT_YET_VALID: "its certificate is not valid yet, or this machine's clock is wrong",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
  EPROTO: "it does not speak TLS as expected",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS as expected",
};

/** Words for untrusted certificates, by OpenSSL's error codes (X509_STORE_CTX_get_error(3)). */
const UNTRUSTED: Record<string, string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate chain has a self-signed one",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate cannot be verified",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate's issuer is not known here",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate's issuer is not known here",
  CERT_SIGNATURE_FAILURE: "its certificate was not made by the issuer that it names",
};

const NAME_AUTHORITY =
  'if your network has a certificate authority of its own, name its file in "outbound.caFile": tollkeeper config edit';

const CORRECT_PROXY = 'correct "outbound.httpsProxy": tollkeeper config edit';

/** `detail` is from the {@link TunnelError}. */
const NO_TUNNEL: Record<TunnelErrorCode, (detail: string) => ConnectFailure> = {
  ERR_PROXY_UNREACHABLE: (detail) => ({
    why: `the proxy cannot be reached: ${wordsFor(detail)}`,
    fix: detail in UNTRUSTED ? NAME_AUTHORITY : CORRECT_PROXY,
  }),
  ERR_PROXY_CLOSED: () => ({ why: "the proxy hung up without an answer", fix: CORRECT_PROXY }),
  ERR_PROXY_NOT_HTTP: () => ({ why: "what is there is no HTTP proxy", fix: CORRECT_PROXY }),
  ERR_PROXY_AUTH_MISSING: () => ({
    why: "the proxy asks for user name and password",
    fix: 'write them into "outbound.httpsProxy" as http://USER:PASSWORD@HOST:PORT: tollkeeper config edit',
  }),
  ERR_PROXY_AUTH_WRONG: () => ({
    why: "the proxy does not accept user name and password",
    fix: CORRECT_PROXY,
  }),
  ERR_PROXY_AUTH_UNKNOWN: () => ({
    why: "the proxy asks for an authentication other than user name and password",
    fix: 'run a local proxy that can do it, such as px or cntlm, and name that in "outbound.httpsProxy": tollkeeper config edit',
  }),
  ERR_PROXY_REFUSED: (detail) => ({
    why: `the proxy does not allow connections to it (${detail})`,
    fix: 'ask whoever runs the proxy, or name the upstream in "outbound.noProxy": tollkeeper config edit',
  }),
  ERR_PROXY_FAILED: (detail) => ({
    why: `the proxy finds no way to it (${detail})`,
    fix: 'try again; if it is to be reached without the proxy, name it in "outbound.noProxy": tollkeeper config edit',
  }),
};

/** Explains why a connection could not be opened. Uses error codes only: messages may contain addresses and more. */
export function explainConnectFailure(error: Error): ConnectFailure {
  if (error instanceof TunnelError) return NO_TUNNEL[error.code](error.detail);
  const code = codeOf(error) ?? NO_CODE;
  return { why: wordsFor(code), fix: code in UNTRUSTED ? NAME_AUTHORITY : null };
}

/**
 * Explains a transport error of an upstream to the client. `isConnected`: the upstream may have seen the request, which is why
 * it is not sent again, and the client is told so.
 */
export function explainUpstreamError(error: Error, isConnected: boolean): Refusal {
  if (!isConnected) {
    const { why, fix } = explainConnectFailure(error);
    return {
      code: "upstream_unreachable",
      message: `the upstream cannot be reached: ${why}; ${fix ?? "to see more, type: tollkeeper status"}`,
    };
  }
  const code = codeOf(error) ?? NO_CODE;
  if (code.startsWith("HPE_")) {
    return { code: "upstream_invalid", message: `the upstream's answer is not valid HTTP (${code})` };
  }
  return {
    code: "upstream_broke",
    message: `the upstream broke the connection before it answered (${code}); it may have seen the request`,
  };
}

function wordsFor(code: string): string {
  return UNTRUSTED[code] ?? UNREACHABLE[code] ?? code;
}
