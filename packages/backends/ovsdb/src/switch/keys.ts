/** Keys that resources of other backends name. Pure, for kinds and for models. */

/** Of a port that ovs-vswitchd has made with the number that it was to have. */
export const portReadyKey = (port: string): string => `ovs-port-ready ${port}`;

/** Of a port whose flows ovn-controller has put in. */
export const portInstalledKey = (port: string): string => `ovs-port-installed ${port}`;
