/**
 * The first and the last npm of each major version in Node 20 to 24, and those around changes in how npm links
 * commands.
 */
export const NPM_VERSIONS = ['9.6.4', '9.8.1', '10.1.0', '10.8.2', '10.9.9', '11.3.0', '11.6.2', '11.19.0'];
