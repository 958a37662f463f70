/** Herald's version, which the user agent and the metrics show. */
export const VERSION = '0.1.0';
