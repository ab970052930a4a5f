/** A variable or an option of Node that decides which certificate authorities a process trusts. */
export interface TrustVariable {
  /** A variable's name, or an option such as `--use-openssl-ca`. */
  name: string;
  /** The file or directory that it names; null for an option. */
  path: string | null;
}

/** Options that replace Node's own list of authorities (Node's documentation, "Command-line API"). */
const STORES = /--use-(?:openssl|system)-ca\b/g;

/**
 * Lists what makes this process trust other authorities than Node's own. A service has none of the variables of a shell, so what one of the
 * two accepts the other may refuse.
 * @param execArgv Node's own arguments
 */
export function listTrustVariables(env: NodeJS.ProcessEnv, execArgv: readonly string[]): TrustVariable[] {
  const given = [...execArgv, env["NODE_OPTIONS"] ?? ""].join(" ").replaceAll("_", "-");
  const stores = [...new Set(given.match(STORES))];
  if (env["NODE_USE_SYSTEM_CA"] === "1") stores.push("NODE_USE_SYSTEM_CA");
  // OpenSSL reads its variables only where Node uses OpenSSL's list.
  const names = stores.includes("--use-openssl-ca") ? ["SSL_CERT_FILE", "SSL_CERT_DIR"] : [];
  return [
    ...[...names, "NODE_EXTRA_CA_CERTS"].flatMap((name) => {
      const path = env[name] ?? "";
      return path === "" ? [] : [{ name, path }];
    }),
    ...stores.map((name) => ({ name, path: null })),
  ];
}

/** Returns those of the first list that are not in the second. */
export function missingIn(other: readonly TrustVariable[], own: readonly TrustVariable[]): TrustVariable[] {
  return own.filter(({ name, path }) => !other.some((one) => one.name === name && one.path === path));
}
