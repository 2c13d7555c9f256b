package io.verbena.server;

import io.verbena.client.KvClient;
import io.verbena.client.KvEntry;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvOutcome;
import io.verbena.client.KvPermissionDeniedException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.protocol.access.Grant;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.exceptions.JedisException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What users of a cluster may do. */
@Timeout(180)
class UsersTest extends UsersRig
{
    @Test
    void shouldServeEverybodyUntilThereIsAUserAndThenOnlyUsersAndOperators() throws IOException
    {
        try (KvClient stranger = stranger(); KvClient operator = operator())
        {
            final KvTable open = stranger.table("open");
            assertThat(open.get(bytes("bob:1"))).isPresent();
            putAnn();
            awaitDenied(() -> open.get(bytes("bob:1")));
            expectDenied(() -> open.put(bytes("k"), bytes("v")));
            expectDenied(() -> stranger.createTable("mine"));
            expectDenied(() -> stranger.dropTable("open"));
            expectDenied(() -> stranger.table("open"));
            assertThat(stranger.tables()).isEmpty();
            assertThat(operator.table("hidden").get(bytes("bob:1"))).as("who has the token").isPresent();
            operator.table("hidden").put(bytes("k"), bytes("v"));
            try (KvClient ann = user("ann", SECRET))
            {
                assertThat(ann.table("open").get(bytes("bob:1"))).isPresent();
            }
            remove("ann");
            final long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < STEP_NS && stranger.tables().isEmpty())
            {
                Thread.onSpinWait();
            }
            assertThat(open.get(bytes("bob:1"))).as("no user is left").isPresent();
        }
    }

    @Test
    void shouldAllowAUserWhatWasGrantedByEveryKindOfRequest() throws IOException
    {
        putAnn();
        awaitEnforced();
        try (KvClient ann = user("ann", SECRET))
        {
            final KvTable open = ann.table("open");
            open.put(bytes("k"), new byte[16 * 1024]);
            assertThat(open.get(bytes("k")).orElseThrow().value()).hasSize(16 * 1024);
            assertThat(open.increment(bytes("n"), 3)).isEqualTo(3);
            assertThat(open.scan().stream().count()).isEqualTo(4);
            assertThat(open.delete(bytes("k"))).isTrue();

            final KvTable restricted = ann.table("private");
            assertThat(restricted.get(bytes("ann:1"))).isPresent();
            expectDenied(() -> restricted.get(bytes("bob:1")));
            expectDenied(() -> restricted.exists(bytes("bob:1")));
            expectDenied(() -> restricted.put(bytes("ann:1"), bytes("x")));
            expectDenied(() -> restricted.put(bytes("ann:1"), new byte[16 * 1024]));
            expectDenied(() -> restricted.put(("ann:" + "k".repeat(60_000)).getBytes(StandardCharsets.UTF_8),
                new byte[16 * 1024]));
            expectDenied(() -> restricted.putIfAbsent(bytes("ann:2"), bytes("x")));
            expectDenied(() -> restricted.replace(bytes("ann:1"), bytes("x")));
            expectDenied(() -> restricted.replace(bytes("ann:1"), bytes("x"), 1));
            expectDenied(() -> restricted.append(bytes("ann:1"), bytes("x")));
            expectDenied(() -> restricted.increment(bytes("ann:1"), 1));
            expectDenied(() -> restricted.delete(bytes("ann:1")));
            expectDenied(() -> restricted.delete(bytes("ann:1"), 1));
            expectDenied(() -> restricted.scan().stream().count());
            expectDenied(restricted::stat);
            expectDenied(() -> ann.table("hidden"));
            expectDenied(() -> ann.table("nosuch"));
            expectDenied(() -> ann.createTable("other"));
            expectDenied(() -> ann.dropTable("open"));
            assertThat(ann.reclaim()).as("nodes that refuse to sweep").isNotEmpty();
            assertThat(ann.tables()).containsExactly("open", "private");
            ann.createTable("made", new TableOptions(100)).put(bytes("a"), bytes("b"));
            ann.dropTable("made");
        }
        try (KvClient operator = operator())
        {
            assertThat(operator.table("private").get(bytes("ann:1")).orElseThrow().value())
                .isEqualTo(bytes("of ann in private"));
        }
    }

    /** One key of a batch that is not permitted hides none of the others, and is not carried out. */
    @Test
    void shouldDenyTheKeysOfABatchThatAreNotPermitted() throws IOException
    {
        put("ann", SECRET, new Grant("private", READ | WRITE, bytes("ann:")));
        awaitEnforced();
        try (KvClient ann = user("ann", SECRET); KvClient operator = operator())
        {
            final KvTable table = ann.table("private");
            final List<byte[]> keys = List.of(bytes("ann:1"), bytes("bob:1"), bytes("ann:2"));
            final List<KvOutcome<Optional<KvEntry>>> found = table.getAll(keys);
            assertThat(found.get(0).get()).isPresent();
            assertThat(found.get(1).failure()).isInstanceOf(KvPermissionDeniedException.class);
            assertThat(found.get(2).get()).isEmpty();
            final List<KvOutcome<Long>> written = table.putAll(keys, List.of(bytes("x"), bytes("x"), bytes("x")));
            assertThat(written).extracting(KvOutcome::isSuccess).containsExactly(true, false, true);
            assertThat(table.deleteAll(keys)).extracting(KvOutcome::isSuccess).containsExactly(true, false, true);
            assertThat(operator.table("private").get(bytes("bob:1")).orElseThrow().value())
                .isEqualTo(bytes("of bob in private"));
        }
    }

    @Test
    void shouldTakeRightsAway() throws IOException
    {
        putAnn();
        awaitEnforced();
        try (KvClient ann = user("ann", SECRET))
        {
            final KvTable open = ann.table("open");
            open.put(bytes("k"), bytes("v"));
            put("ann", null, new Grant("open", READ, new byte[0]));
            awaitDenied(() -> open.put(bytes("k"), bytes("v")));
            assertThat(open.get(bytes("k"))).as("what is left").isPresent();
            put("ann", "another secret", new Grant("open", READ, new byte[0]));
            awaitDenied(() -> open.get(bytes("k")));
            assertThatThrownBy(() -> user("ann", SECRET)).isInstanceOf(KvInvalidRequestException.class)
                .hasMessageContaining("no such user with this secret").hasMessageNotContaining(SECRET);
            try (KvClient again = user("ann", "another secret"))
            {
                final KvTable table = again.table("open");
                assertThat(table.get(bytes("k"))).isPresent();
                put("ben", SECRET);
                remove("ann");
                awaitDenied(() -> table.get(bytes("k")));
                put("ann", "another secret", new Grant("open", READ, new byte[0]));
                expectDenied(() -> table.get(bytes("k"))); // the user of that name is another one now
            }
        }
    }

    @Test
    void shouldServeClientsOfRedisAsUsers()
    {
        put("ann", SECRET, new Grant("default", READ | WRITE, bytes("ann:")),
            new Grant("private", READ, bytes("ann:")));
        awaitEnforced();
        try (Jedis jedis = new Jedis(LOOPBACK, compute.respPort()))
        {
            assertThatThrownBy(() -> jedis.get("ann:1")).hasMessageContaining("NOAUTH");
            assertThatThrownBy(() -> jedis.auth("ann", "wrong secret")).hasMessageContaining("WRONGPASS");
            assertThatThrownBy(() -> jedis.auth("nobody", SECRET)).hasMessageContaining("WRONGPASS");
            assertThatThrownBy(() -> jedis.auth("default", SECRET)).hasMessageContaining("WRONGPASS");
            assertThatThrownBy(() -> jedis.get("ann:1")).hasMessageContaining("NOAUTH");
            assertThat(jedis.auth("ann", SECRET)).isEqualTo("OK");
            expectServedAsAnn(jedis);
        }
        try (Jedis jedis = new Jedis(new HostAndPort(LOOPBACK, compute.respPort()), DefaultJedisClientConfig.builder()
            .user("ann").password(SECRET).protocol(RedisProtocol.RESP3).clientName("by-hello").build()))
        {
            expectServedAsAnn(jedis);
            assertThat(jedis.clientGetname()).isEqualTo("by-hello");
            remove("ann");
            put("ben", SECRET);
            final long startNs = System.nanoTime();
            while (isServed(jedis))
            {
                assertThat(System.nanoTime() - startNs).isLessThan(STEP_NS);
            }
            assertThatThrownBy(() -> jedis.get("ann:1")).hasMessageContaining("NOPERM");
        }
    }

    private static boolean isServed(final Jedis jedis)
    {
        try
        {
            jedis.get("ann:1");
            return true;
        }
        catch (final JedisException ex)
        {
            return false;
        }
    }

    private static void expectServedAsAnn(final Jedis jedis)
    {
        assertThat(jedis.get("ann:1")).isEqualTo("of ann in default");
        assertThat(jedis.set("ann:2", "x")).isEqualTo("OK");
        assertThat(jedis.incr("ann:n")).isPositive();
        final Map<String, Runnable> denied = Map.ofEntries(
            Map.entry("get", () -> jedis.get("bob:1")),
            Map.entry("set", () -> jedis.set("bob:1", "x")),
            Map.entry("mget", () -> jedis.mget("ann:1", "bob:1")),
            Map.entry("mset", () -> jedis.mset("bob:1", "x", "bob:2", "x")),
            Map.entry("del", () -> jedis.del("bob:1", "ann:9")),
            Map.entry("rename from", () -> jedis.rename("bob:1", "ann:3")),
            Map.entry("rename to", () -> jedis.rename("ann:2", "bob:3")),
            Map.entry("copy", () -> jedis.copy("bob:1", "ann:3", true)),
            Map.entry("expire", () -> jedis.expire("bob:1", 1)),
            Map.entry("append", () -> jedis.append("bob:1", "x")),
            Map.entry("getdel", () -> jedis.getDel("bob:1")),
            Map.entry("scan", () -> jedis.scan("0")),
            Map.entry("keys", () -> jedis.keys("*")),
            Map.entry("dbsize", jedis::dbSize),
            Map.entry("randomkey", jedis::randomKey),
            Map.entry("flushdb", jedis::flushDB),
            Map.entry("memory", () -> jedis.memoryUsage("bob:1")),
            Map.entry("object", () -> jedis.objectEncoding("bob:1")));
        denied.forEach((name, command) ->
            assertThatThrownBy(command::run).as(name).hasMessageContaining("NOPERM").hasMessageContaining("ann"));
        assertThat(jedis.sendCommand(() -> bytes("SELECT"), "private")).isEqualTo(bytes("OK"));
        assertThat(jedis.get("ann:1")).isEqualTo("of ann in private");
        assertThatThrownBy(() -> jedis.set("ann:1", "x")).hasMessageContaining("NOPERM");
        assertThatThrownBy(() -> jedis.get("bob:1")).hasMessageContaining("NOPERM");
        assertThatThrownBy(() -> jedis.sendCommand(() -> bytes("SELECT"), "hidden")).hasMessageContaining("NOPERM");
        assertThat(jedis.get("ann:1")).as("still the one before").isEqualTo("of ann in private");
    }
}
