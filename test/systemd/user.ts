/** Who the service belongs to in the container. */
export const USER = { name: "tk", uid: 1000, home: "/home/tk", runtime: "/run/user/1000" };
