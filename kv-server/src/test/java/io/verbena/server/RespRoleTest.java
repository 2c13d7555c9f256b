package io.verbena.server;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvCodec;
import io.verbena.client.KvTypedTable;
import io.verbena.client.TableOptions;
import io.verbena.client.routing.RemoteKvClient;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.resp.RespConfiguration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.args.ExpiryOption;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.GetExParams;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.resps.Slowlog;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** Clients of Redis as they are, at a compute node with a table of its own kind behind it. */
@Timeout(180)
class RespRoleTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(40);
    /** Clients' own timeout of 2 s is not for a busy machine. */
    private static final int STEP_MS = (int)TimeUnit.NANOSECONDS.toMillis(STEP_NS);
    private static final String LOOPBACK = "127.0.0.1";

    @TempDir
    Path directory;
    private final List<RoleRunner> runners = new ArrayList<>();
    private Fabric fabric;
    private MetaServerLocator locator;
    private ComputeNodeRole compute;
    private int port;

    @BeforeEach
    void open()
    {
        final String fabricName = "soft:" + directory.resolve("fabric");
        fabric = Fabrics.open(fabricName);
        final ClusterToken token = ClusterToken.readOrCreate(directory.resolve("token"));
        final MetaServerRole meta = MetaServerRole.open(fabric, fabricName, new ClusterAddress(LOOPBACK, 0), token,
            directory.resolve("data"), true, new MetaServerConfiguration().leaseNs(TimeUnit.SECONDS.toNanos(60)));
        start(meta);
        final BootstrapAnswer answer = BootstrapClient.ask(meta.address(), token, 10_000);
        locator = new BootstrapLocator(meta.address(), token, answer);
        start(MemoryNodeRole.open(fabric, locator, 32 << 20));
        compute = ComputeNodeRole.open(fabric, locator, null, new ComputeNodeConfiguration().slowThresholdNs(0),
            ComputeNodeRole.DEFAULT_MAX_CLIENTS, new RespConfiguration().port(0));
        start(compute);
        port = compute.respPort();
        try (KvClient client = connect())
        {
            client.createTable("default", new TableOptions(10_000));
            client.createTable("db2", new TableOptions(100));
        }
    }

    private KvClient connect()
    {
        final Device device = fabric.openDevice("client");
        return RemoteKvClient.open(device, locator, new KvClientOptions(), device::close);
    }

    private void start(final Role role)
    {
        final RoleRunner runner = RoleRunner.start(role, false);
        runners.add(runner);
        assertThat(runner.awaitReady(STEP_NS)).as(runner.failure()).isTrue();
    }

    @AfterEach
    void close()
    {
        runners.reversed().forEach((runner) ->
        {
            runner.stop();
            assertThat(runner.awaitEnd(STEP_NS)).isTrue();
            assertThat(runner.failure()).isEmpty();
        });
        fabric.close();
    }

    @Test
    void shouldServeJedis()
    {
        try (Jedis jedis = new Jedis(LOOPBACK, port, STEP_MS))
        {
            assertThat(jedis.set("hello", "world")).isEqualTo("OK");
            assertThat(jedis.get("hello")).isEqualTo("world");
            assertThat(jedis.set("hello", "x", SetParams.setParams().nx())).isNull();
            assertThat(jedis.mset("a", "1", "b", "2")).isEqualTo("OK");
            assertThat(jedis.mget("a", "b", "c")).containsExactly("1", "2", null);
            assertThat(jedis.incrBy("a", 41)).isEqualTo(42);
            assertThat(jedis.append("b", "34")).isEqualTo(3);
            assertThat(jedis.getDel("b")).isEqualTo("234");
            assertThatThrownBy(() -> jedis.incr("hello")).isInstanceOf(JedisDataException.class)
                .hasMessage("ERR value is not an integer or out of range");
            assertThatThrownBy(() -> jedis.set("long", "x".repeat(20_000)))
                .hasMessageContaining("at most 16384 are possible");
            assertThat(jedis.dbSize()).isEqualTo(2);
            assertThat(jedis.select(2)).isEqualTo("OK");
            assertThat(jedis.get("hello")).isNull();
            assertThat(jedis.set("only", "here")).isEqualTo("OK");
            assertThat(jedis.select(0)).isEqualTo("OK");
            assertThat(jedis.get("only")).isNull();
        }
    }

    @Test
    void shouldCountWithClientsOfBothKinds()
    {
        try (Jedis jedis = new Jedis(LOOPBACK, port, STEP_MS); KvClient client = connect())
        {
            final KvTypedTable<String, String> texts = client.table("default").as(KvCodec.UTF_8, KvCodec.UTF_8);
            final KvTypedTable<String, Long> numbers = client.table("default").as(KvCodec.UTF_8, KvCodec.LONG);
            jedis.set("digits", "10");
            assertThat(jedis.incrBy("digits", 5)).isEqualTo(15);
            assertThat(texts.increment("digits", 85)).isEqualTo(100);
            assertThat(texts.get("digits")).contains("100");
            assertThat(jedis.get("digits")).isEqualTo("100");
            assertThat(jedis.incr("fresh")).isOne();
            assertThat(texts.get("fresh")).contains("1");

            assertThat(numbers.increment("counter", -41)).isEqualTo(-41);
            assertThat(jedis.get("counter")).isEqualTo("-41");
            assertThat(jedis.strlen("counter")).isEqualTo(3);
            assertThat(jedis.getrange("counter", 1, 2)).isEqualTo("41");
            assertThat(jedis.mget("counter", "digits")).containsExactly("-41", "100");
            assertThat(jedis.type("counter")).isEqualTo("string");
            assertThat(jedis.objectEncoding("counter")).isEqualTo("int");
            assertThat(jedis.decr("counter")).isEqualTo(-42);
            assertThat(jedis.expire("counter", 1_000)).isOne();
            assertThat(jedis.decr("counter")).isEqualTo(-43);
            assertThat(jedis.ttl("counter")).isBetween(900L, 1_000L);
            assertThat(numbers.get("counter")).contains(-43L);
            assertThat(jedis.get("counter")).isEqualTo("-43");
            assertThat(jedis.incrByFloat("counter", 0.5)).isEqualTo(-42.5);
            assertThat(texts.get("counter")).contains("-42.5");

            numbers.increment("appended", 7);
            assertThat(jedis.append("appended", "5")).isEqualTo(2);
            assertThat(numbers.increment("appended", 1)).isEqualTo(76);
            numbers.put("put", 7L);
            assertThatThrownBy(() -> jedis.incr("put")).hasMessage("ERR value is not an integer or out of range");
            assertThat(numbers.increment("put", 1)).isEqualTo(8);
            assertThat(jedis.incr("put")).isEqualTo(9);
            jedis.set("put", "hello123");
            assertThat(jedis.get("put")).isEqualTo("hello123");
        }
    }

    @Test
    void shouldShowHowManyOfItsClientsAreConnected() throws InterruptedException
    {
        final List<Object> limits = new ArrayList<>();
        try (Jedis first = new Jedis(LOOPBACK, port, STEP_MS); Jedis second = new Jedis(LOOPBACK, port, STEP_MS))
        {
            assertThat(first.ping() + second.ping()).isEqualTo("PONGPONG");
            final Map<String, Object> expected =
                Map.of("name", "clients of Redis", "use", 2L, "limit", 1_024L, "option", "--resp-max-clients");
            final long deadlineNs = System.nanoTime() + STEP_NS;
            while (!limits.contains(expected))
            {
                assertThat(System.nanoTime() - deadlineNs).as("%s", limits).isNegative();
                Thread.sleep(20);
                limits.clear();
                limits.addAll((List<?>)compute.health().get("limits"));
            }
        }
    }

    @Test
    void shouldLetRecordsEnd()
    {
        try (Jedis jedis = new Jedis(LOOPBACK, port, STEP_MS))
        {
            final long deadlineMs = System.currentTimeMillis() + TimeUnit.HOURS.toMillis(1);
            assertThat(jedis.set("k", "1", SetParams.setParams().ex(100))).isEqualTo("OK");
            assertThat(jedis.ttl("k")).isBetween(50L, 100L);
            assertThat(jedis.pexpireAt("k", deadlineMs, ExpiryOption.GT)).isOne();
            assertThat(jedis.pexpireAt("k", deadlineMs, ExpiryOption.GT)).isZero();
            assertThat(jedis.incrBy("k", 41)).isEqualTo(42);
            assertThat(jedis.append("k", "0")).isEqualTo(3);
            assertThat(jedis.setrange("k", 0, "9")).isEqualTo(3);
            assertThat(jedis.incrByFloat("k", 1)).isEqualTo(921);
            assertThat(jedis.set("k", "2", SetParams.setParams().keepTtl())).isEqualTo("OK");
            assertThat(jedis.pexpireTime("k")).isEqualTo(deadlineMs);
            assertThat(jedis.persist("k")).isOne();
            assertThat(jedis.persist("k")).isZero();
            assertThat(jedis.ttl("k")).isEqualTo(-1);
            assertThat(jedis.expire("k", 10, ExpiryOption.GT)).isZero();
            assertThat(jedis.getEx("k", GetExParams.getExParams().pxAt(deadlineMs + 1))).isEqualTo("2");
            assertThat(jedis.pexpireTime("k")).isEqualTo(deadlineMs + 1);
            assertThat(jedis.set("k", "3")).isEqualTo("OK");
            assertThat(jedis.ttl("k")).isEqualTo(-1);
            assertThat(jedis.expire("k", -1)).isOne();
            assertThat(jedis.dbSize()).isZero();
            assertThat(jedis.ttl("k")).isEqualTo(-2);
        }
    }

    @Test
    void shouldEndRecordsAtTheirTimes()
    {
        try (Jedis jedis = new Jedis(LOOPBACK, port, STEP_MS))
        {
            final long beganNs = System.nanoTime();
            assertThat(jedis.set("short", "v", SetParams.setParams().px(300))).isEqualTo("OK");
            assertThat(jedis.set("long", "v", SetParams.setParams().px(100_000))).isEqualTo("OK");
            while (null != jedis.get("short"))
            {
                assertThat(System.nanoTime() - beganNs).as("still there").isLessThan(STEP_NS);
            }
            assertThat(System.nanoTime() - beganNs).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(250));
            assertThat(jedis.exists("short")).isFalse();
            assertThat(jedis.incr("short")).isOne();
            assertThat(jedis.ttl("short")).isEqualTo(-1);
            assertThat(jedis.get("long")).isEqualTo("v");
            assertThat(jedis.dbSize()).isEqualTo(2);
        }
    }

    @Test
    void shouldServeAPipelineInItsOrder()
    {
        try (Jedis jedis = new Jedis(LOOPBACK, port, STEP_MS); Pipeline pipeline = jedis.pipelined())
        {
            final List<Response<?>> responses = new ArrayList<>();
            final List<Object> expected = new ArrayList<>();
            for (int i = 0; i < 500; i++)
            {
                final String key = "key" + i % 97;
                responses.add(pipeline.set(key, "value" + i));
                expected.add("OK");
                responses.add(pipeline.get(key));
                expected.add("value" + i);
                responses.add(pipeline.incr("counter"));
                expected.add(i + 1L);
            }
            pipeline.sync();
            assertThat(responses.stream().<Object>map(Response::get).toList()).isEqualTo(expected);
            final Set<String> met = new HashSet<>();
            String cursor = ScanParams.SCAN_POINTER_START;
            do
            {
                final var found = jedis.scan(cursor, new ScanParams().count(7).match("key*"));
                met.addAll(found.getResult());
                cursor = found.getCursor();
            }
            while (!ScanParams.SCAN_POINTER_START.equals(cursor));
            assertThat(met).hasSize(97);
            assertThat(jedis.flushDB()).isEqualTo("OK");
            assertThat(jedis.dbSize()).isZero();
        }
    }

    /** Speaks version 3 from the first command on. */
    @Test
    void shouldServeLettuce() throws Exception
    {
        final RedisClient client = RedisClient.create("redis://" + LOOPBACK + ":" + port);
        try (StatefulRedisConnection<String, String> connection = client.connect())
        {
            assertThat(connection.sync().set("k", "v", SetArgs.Builder.xx())).isNull();
            assertThat(connection.sync().set("k", "v")).isEqualTo("OK");
            assertThat(connection.sync().get("k")).isEqualTo("v");
            assertThat(connection.sync().get("nothing")).isNull();
            final RedisAsyncCommands<String, String> async = connection.async();
            final List<RedisFuture<Long>> sums = new ArrayList<>();
            for (int i = 0; i < 300; i++)
            {
                sums.add(async.incr("sum"));
            }
            for (int i = 0; i < 300; i++)
            {
                assertThat(sums.get(i).get(20, TimeUnit.SECONDS)).isEqualTo(i + 1L);
            }
            assertThat(connection.reactive().strlen("sum").block()).isEqualTo(3);
            // Last: the client forgets that it is in a transaction a little after the refusal was returned, and what
            // is sent before that waits for EXEC forever.
            assertThatThrownBy(() -> connection.sync().multi()).isInstanceOf(RedisCommandExecutionException.class)
                .hasMessageContaining("not atomic here");
        }
        finally
        {
            client.shutdown(0, 5, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldServeRedisCli() throws IOException, InterruptedException
    {
        final Path program = Path.of("/usr/bin/redis-cli");
        Assumptions.assumeTrue(Files.isExecutable(program), "skipped: no /usr/bin/redis-cli");
        final Path input = directory.resolve("input");
        final StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 1_000; i++)
        {
            lines.append("SET pipe").append(i).append(" value\r\n");
        }
        Files.writeString(input, lines);
        assertThat(run(input, program, "--pipe")).contains("errors: 0, replies: 1000");
        assertThat(run(null, program, "DBSIZE")).isEqualTo("1000\n");
        assertThat(run(null, program, "-3", "GET", "pipe999")).isEqualTo("value\n");
        assertThat(run(null, program, "--scan", "--pattern", "pipe99?").lines()).hasSize(10);
    }

    @Test
    void shouldServeRedisBenchmark() throws IOException, InterruptedException
    {
        final Path program = Path.of("/usr/bin/redis-benchmark");
        Assumptions.assumeTrue(Files.isExecutable(program), "skipped: no /usr/bin/redis-benchmark");
        final String output = run(null, program, "-t", "ping,set,get,incr,mset", "-n", "3000", "-P", "16", "-r", "500",
            "-c", "10", "--csv");
        assertThat(output.lines().filter((line) -> line.matches("\"[A-Z].*\",\"\\d+.*"))).as(output).hasSize(6);
        assertThat(output).doesNotContainIgnoringCase("error");
    }

    /** Each operation is slow here; the log names no key. */
    @Test
    void shouldShowSlowOperations()
    {
        try (Jedis jedis = new Jedis(LOOPBACK, port, STEP_MS))
        {
            assertThat(jedis.slowlogReset()).isEqualTo("OK");
            jedis.set("secret", "value");
            jedis.get("secret");
            final List<Slowlog> slow = jedis.slowlogGet();
            assertThat(slow).hasSize(2);
            assertThat(slow.getLast().getArgs()).startsWith("put", "table=default").endsWith(
                "key_bytes=6", "value_bytes=5", "answer=stored");
            assertThat(slow.getFirst().getArgs()).startsWith("get", "table=default").endsWith("answer=found");
            assertThat(slow.getFirst().getId()).isEqualTo(slow.getLast().getId() + 1);
            assertThat(slow.getFirst().getTimeStamp())
                .isCloseTo(TimeUnit.MILLISECONDS.toSeconds(System.currentTimeMillis()), within(60L));
            assertThat(slow.getFirst().getExecutionTime()).isBetween(0L, TimeUnit.SECONDS.toMicros(60));
            assertThat(slow.toString()).doesNotContain("secret");
            assertThat(jedis.configGet("slowlog-log-slower-than")).containsValue("0");
            assertThat(jedis.slowlogReset()).isEqualTo("OK");
            assertThat(jedis.slowlogLen()).isZero();
        }
    }

    private String run(final Path input, final Path program, final String... arguments)
        throws IOException, InterruptedException
    {
        final List<String> command = new ArrayList<>(List.of(program.toString(), "-h", LOOPBACK, "-p", "" + port));
        command.addAll(List.of(arguments));
        final ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        if (null != input)
        {
            builder.redirectInput(input.toFile());
        }
        final Process process = builder.start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return output;
    }
}
