/** The user of the service in the container. */
export const SERVICE_USER = { name: "tk", uid: 1000, home: "/home/tk", runtime: "/run/user/1000" };
