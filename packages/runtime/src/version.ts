/** Herald's own version, as the user agent and the metrics show it. */
export const VERSION = '0.1.0';
