export {
  hasBlockedClient,
  askRedis,
  createRedisSecurity,
  type RedisOptions,
  type RedisSecurity,
  type RunningRedis,
  startRedis,
} from './start-redis.ts';
export {
  type Certificate,
  type CertificateAuthority,
  createCertificateAuthority,
  readCertificateAuthority,
} from './certificate-authority.ts';
export { freePort, hasCode, isPortFree, messageOf } from './free-port.ts';
export { findChromium, findExecutable, findPostgres, findRedisServer } from './find-programs.ts';
export {
  type LaunchedProcess,
  type LaunchOptions,
  launchProcess,
  type OutputLine,
  type ProcessExit,
  type ProcessOptions,
  type RunningProcess,
  startProcess,
} from './start-process.ts';
export { startPostgres, type PostgresOptions, type RunningPostgres } from './start-postgres.ts';
export { startProxy, type Proxy, type ProxyAnswer, type ProxyOptions } from './start-proxy.ts';
export {
  type Answer,
  type ReceivedRequest,
  type Receiver,
  RECEIVER_HOSTS,
  type ReceiverOptions,
  type Respond,
  startReceiver,
} from './start-receiver.ts';
export { startRedisCluster, type RunningRedisCluster } from './start-redis-cluster.ts';
export { startRedisSentinels, type RunningRedisSentinels } from './start-redis-sentinels.ts';
export { patient, waitFor, type WaitOptions } from './wait-for.ts';
export { startHttps, startPlain, startTls, type Credentials, type LoopbackServer } from './start-loopback-server.ts';
