/**
 * Variables that locate the session bus and, on macOS, the user's keychain. Some systems need LD_LIBRARY_PATH to find
 * libsecret. DISPLAY is left out on purpose: with it, and without a session bus, GLib would start an empty bus of its own.
 */
const PASSED_VARIABLES = [
  "HOME",
  "USER",
  "LOGNAME",
  "PATH",
  "LD_LIBRARY_PATH",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
];

/** Returns the environment of the processes that talk to the keychain: nothing that could configure or trace Node. */
export function keychainEnvironment(): Record<string, string> {
  // Failures are recognized by their text, which must therefore be untranslated.
  const env: Record<string, string> = { LC_ALL: "C" };
  for (const name of PASSED_VARIABLES) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
