/** Where monitors ask whether the daemon can serve. */
export const HEALTH_PATH = "/_tollkeeper/healthz";

/** The path that Prometheus scrapes. */
export const METRICS_PATH = "/_tollkeeper/metrics";

/** Where the script and the style of the page at the root are. */
export const ASSETS_PATH = "/_tollkeeper/dashboard/";

/** Where the feeds are, each at this path with its name. The version rises when a field is removed or changes its meaning. */
export const FEEDS_PATH = "/_tollkeeper/v1/";
