import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { makeCertificate, startTlsUpstream } from "../../../helpers/upstream/certificate.ts";
import { setUpMachine } from "../../../helpers/daemon/machine.ts";
import { freePort } from "../../../helpers/process/free-port.ts";
import { sentinelKey } from "../../../helpers/keychain/key-command.ts";
import { noKeyring, startSession, startUnlockedSession } from "../../../helpers/keychain/keychain-session.ts";
import { scratchDirectory } from "../../../helpers/process/scratch-directory.ts";
import { listenOnLoopback } from "../../../helpers/upstream/loopback-port.ts";
import { sendJson } from "../../../helpers/upstream/scripted-upstream.ts";
import type { Problem } from "./problem.ts";

/** A configuration with the key in the keychain. */
const inKeychain = (baseUrl: string) => ({ upstreams: { default: { baseUrl } } });

/** How `doctor` offers another place than the keychain. */
export const ELSEWHERE =
  'or use another key source, such as a file with the key that only you can read: tollkeeper config set upstreams.default.keySource \'{"file":"~/key"}\'';

const RUNTIME = `/run/user/${process.getuid?.()}`;

/** What `doctor` advises where there is no D-Bus session. Only a bus that exists is named. */
export const LOGIN = existsSync(`${RUNTIME}/bus`)
  ? `run tollkeeper in your login session, or point it at that session's bus: export XDG_RUNTIME_DIR=${RUNTIME}`
  : "run tollkeeper in a login session";

/** Problems of the keychain, of keys, and of upstreams. */
export const KEY_PROBLEMS: Problem[] = [
  {
    name: "there is no D-Bus session",
    skip: noKeyring,
    build: (t) => setUpMachine(t, { config: inKeychain }),
    finds: [
      ["failure keychain: there is no D-Bus session, which the keychain needs", `${LOGIN}; ${ELSEWHERE}`],
    ],
  },
  {
    name: "no program provides a keychain",
    skip: noKeyring,
    build: async (t) => setUpMachine(t, { config: inKeychain, session: (await startSession(t)).busEnv }),
    finds: [
      [
        "failure keychain: no keychain is running: nothing provides org.freedesktop.secrets",
        `install and start one (gnome-keyring, KWallet, or KeePassXC with its Secret Service enabled), ${ELSEWHERE}`,
      ],
    ],
  },
  {
    name: "the keyring is locked",
    skip: noKeyring,
    async build(t) {
      const session = await startUnlockedSession(t);
      await session.lock();
      return setUpMachine(t, { config: inKeychain, session: session.busEnv });
    },
    finds: [
      [
        "failure keychain: the keychain is locked",
        `unlock it: log in to the desktop, or open its password manager; or without a desktop, type this, which asks for its password: sh -c 'stty -echo; printf "Keyring password: "; IFS= read -r word; stty echo; echo; printf %s "$word" | setsid gnome-keyring-daemon --replace --unlock'; then try again; ${ELSEWHERE}`,
      ],
    ],
  },
  {
    name: "libsecret cannot be loaded",
    skip: noKeyring,
    async build(t) {
      const session = await startUnlockedSession(t);
      const directory = scratchDirectory(t);
      writeFileSync(join(directory, "libsecret-1.so.0"), "no library");
      return setUpMachine(t, {
        config: inKeychain,
        session: session.busEnv,
        env: { LD_LIBRARY_PATH: directory },
        names: { DIRECTORY: directory },
      });
    },
    finds: [
      [
        "failure keychain: libsecret, which the keychain needs, cannot be loaded: DIRECTORY/libsecret-1.so.0: file too short",
        `install it: apt install libsecret-1-0 (Debian, Ubuntu), dnf install libsecret (Fedora), pacman -S libsecret (Arch); ${ELSEWHERE}`,
      ],
    ],
  },
  {
    name: "the keychain has no key with this name",
    skip: noKeyring,
    async build(t) {
      const session = await startUnlockedSession(t);
      return setUpMachine(t, { config: inKeychain, session: session.busEnv });
    },
    finds: [['failure keys: no key "default" is stored for UPSTREAM', "tollkeeper key set"]],
  },
  {
    name: "the key of an upstream is missing, and one that may be it is in a tool's file",
    skip: noKeyring,
    async build(t) {
      const session = await startUnlockedSession(t);
      const file = JSON.stringify({ OPENAI_API_KEY: sentinelKey(), tokens: null }, null, 2);
      const files = { ".codex/auth.json": file };
      return setUpMachine(t, { config: inKeychain, session: session.busEnv, files });
    },
    finds: [
      ['failure keys: no key "default" is stored for UPSTREAM', "tollkeeper key set"],
      [
        "warning leftover-keys: ~/.codex/auth.json:2 (OPENAI_API_KEY) contains what looks like an API key",
        'if it is the key of upstream default (UPSTREAM), store it with: tollkeeper key set; then replace it with "placeholder" in line 2 of ~/.codex/auth.json',
      ],
    ],
  },
  {
    name: "other users can read the key file",
    async build(t) {
      const machine = await setUpMachine(t);
      chmodSync(machine.keyFile, 0o644);
      return machine;
    },
    finds: [
      ["failure keys: key file KEYFILE is open to other users", "restrict it to yourself: chmod 600 KEYFILE"],
    ],
  },
  {
    name: "the upstream refuses the key",
    build: (t) => {
      return setUpMachine(t, {
        upstream: (_seen, res) => sendJson(res, { error: { message: "invalid key" } }, 401),
      });
    },
    finds: [
      [
        "failure upstreams: default: the key was rejected: UPSTREAM/v1 responded with 401: invalid key",
        "replace the key in: file KEYFILE",
      ],
    ],
  },
  {
    name: "the upstream has no list of models",
    build: (t) => setUpMachine(t, { upstream: (_seen, res) => res.writeHead(404).end() }),
    finds: [
      [
        "warning upstreams: default: the key could not be verified: UPSTREAM/v1/models responded with 404",
        "it may still work; if not, correct upstreams.default.baseUrl with: tollkeeper config edit",
      ],
    ],
  },
  {
    name: "nothing listens at the upstream's address",
    async build(t) {
      const NOBODY = `http://127.0.0.1:${await freePort()}`;
      return setUpMachine(t, { config: withUpstream(`${NOBODY}/v1`), names: { NOBODY } });
    },
    finds: [
      [
        "failure upstreams: default: cannot connect to NOBODY: connection refused, ECONNREFUSED",
        "see whether it responds at all: curl -sS -o /dev/null NOBODY",
      ],
    ],
  },
  {
    name: "the base URL is http:// and its server speaks TLS",
    async build(t) {
      const { baseUrl } = await startTlsUpstream(t, makeCertificate(t, "IP:127.0.0.1"));
      const { host } = new URL(baseUrl);
      return setUpMachine(t, { config: withUpstream(`http://${host}/v1`), names: { HOST: host } });
    },
    finds: [
      [
        "failure upstreams: default: cannot connect to http://HOST: its server speaks TLS, not plain HTTP",
        "did you mean https://HOST/v1? Type: tollkeeper config set upstreams.default.baseUrl https://HOST/v1",
      ],
    ],
  },
  {
    name: "a web page responds in place of the API",
    async build(t) {
      const page = createServer((_req, res) =>
        res.writeHead(200, { "content-type": "text/html" }).end("<html>"),
      );
      const PAGE = `http://127.0.0.1:${await listenOnLoopback(page)}`;
      t.after(() => void page.close());
      return setUpMachine(t, { config: withUpstream(`${PAGE}/v1`), names: { PAGE } });
    },
    finds: [
      [
        "failure upstreams: default: the key could not be verified: PAGE/v1/models responded with a web page (200); the base URL is wrong, or a proxy or a network login is in between",
        "see what responds: curl -sSi PAGE/v1/models",
      ],
    ],
  },
  {
    name: "the upstream's certificate is self-signed",
    async build(t) {
      const { baseUrl } = await startTlsUpstream(t, makeCertificate(t, "IP:127.0.0.1"));
      return setUpMachine(t, { config: withUpstream(baseUrl), names: { TLS: new URL(baseUrl).origin } });
    },
    finds: [
      [
        "failure upstreams: default: cannot connect to TLS: its certificate is self-signed, DEPTH_ZERO_SELF_SIGNED_CERT",
        'if your network has a certificate authority of its own, name its file in "outbound.caFile" with: tollkeeper config edit',
      ],
    ],
  },
  {
    name: "the upstream's certificate is for another host",
    async build(t) {
      const certificate = makeCertificate(t, "DNS:other.example.com");
      const { baseUrl } = await startTlsUpstream(t, certificate);
      const config = (_: string, file: string) => ({
        upstreams: { default: { baseUrl, keySource: { file } } },
        outbound: { caFile: certificate.file },
      });
      return setUpMachine(t, { config, names: { TLS: new URL(baseUrl).origin } });
    },
    finds: [
      [
        "failure upstreams: default: cannot connect to TLS: its certificate is for another host, ERR_TLS_CERT_ALTNAME_INVALID",
        'if the network has a login page, log in there; otherwise correct "baseUrl" with: tollkeeper config edit',
      ],
    ],
  },
  {
    name: "the outbound proxy cannot be reached",
    async build(t) {
      const PROXY = `http://127.0.0.1:${await freePort()}`;
      const upstream = withUpstream("https://api.example.com/v1");
      const config = (_: string, file: string) => ({ ...upstream(_, file), outbound: { httpsProxy: PROXY } });
      return setUpMachine(t, { config, names: { PROXY } });
    },
    finds: [
      [
        "failure upstreams: default: cannot connect to https://api.example.com: the proxy cannot be reached: connection refused, ECONNREFUSED",
        'correct "outbound.httpsProxy" with: tollkeeper config edit',
      ],
    ],
  },
];

/** Returns a configuration with another upstream whose key is in the same file. */
function withUpstream(baseUrl: string) {
  return (_: string, file: string) => ({ upstreams: { default: { baseUrl, keySource: { file } } } });
}
