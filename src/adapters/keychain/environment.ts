/**
 * What finds the session bus and, on macOS, the user's keychain; LD_LIBRARY_PATH because some systems find libsecret
 * by it. DISPLAY is left out on purpose: without a bus GLib would start one of its own with it, and find nothing there.
 */
const PASSED_ON = [
  "HOME",
  "USER",
  "LOGNAME",
  "PATH",
  "LD_LIBRARY_PATH",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
];

/** The environment for the processes that talk to the keychain: nothing that could steer Node or trace its memory. */
export function keychainEnvironment(): Record<string, string> {
  // Failures are told apart by their text, so it must be the untranslated one.
  const env: Record<string, string> = { LC_ALL: "C" };
  for (const name of PASSED_ON) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
