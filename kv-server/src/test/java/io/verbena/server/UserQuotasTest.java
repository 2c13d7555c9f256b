package io.verbena.server;

import io.verbena.client.KvClient;
import io.verbena.client.KvException;
import io.verbena.client.KvOutcome;
import io.verbena.client.KvQuotaExceededException;
import io.verbena.client.KvTable;
import io.verbena.client.KvTableExistsException;
import io.verbena.client.TableOptions;
import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.TableRight;
import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserQuota;

import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What is over a user's quota is refused, with the time to try again, over messages and by the port for Redis. */
class UserQuotasTest extends UsersRig
{
    private static final int MAX_CARRIED_OUT = 100;
    private static final int JEDIS_TIMEOUT_MS = 30_000;

    private void quota(final String name, final UserQuota quota)
    {
        final User present = find(name);
        call(admin, (client) -> client.putUser(present.withoutVerifier().withQuota(quota), STEP_NS));
        final long startNs = System.nanoTime();
        while (!quota.equals(known(name)))
        {
            assertThat(System.nanoTime() - startNs).as("ns until the node knows").isLessThan(STEP_NS);
            Thread.onSpinWait();
        }
    }

    private UserQuota known(final String name)
    {
        final User user = compute.access().user(name);
        return null == user ? null : user.quota();
    }

    /** @return how often it was carried out before: a machine that is busy may leave a second between two of them. */
    private static int expectOver(final Runnable operation, final String why)
    {
        for (int carriedOut = 0; carriedOut < MAX_CARRIED_OUT; carriedOut++)
        {
            try
            {
                operation.run();
            }
            catch (final KvQuotaExceededException ex)
            {
                assertThat(ex.category()).isEqualTo(KvException.Category.QUOTA_EXCEEDED);
                assertThat(ex.retryAfter()).isPositive();
                assertThat(ex).hasMessageContaining(why).hasMessageContaining("try again in")
                    .hasMessageNotContaining("\n");
                return carriedOut;
            }
        }
        throw new AssertionError("never over quota");
    }

    @Test
    void shouldRefuseOperationsOverTheRateAndTakeThemLater() throws Exception
    {
        putAnn();
        put("ben", SECRET, new Grant("open", READ | WRITE, new byte[0]));
        awaitEnforced();
        quota("ann", new UserQuota(1, 0, 0, 0, 0));
        try (KvClient ann = user("ann", SECRET); KvClient ben = user("ben", SECRET); KvClient operator = operator())
        {
            final KvTable table = ann.table("open");
            table.put(bytes("k"), bytes("v"));
            expectOver(() -> table.get(bytes("k")), "GET in table open is over quota: user ann has a quota of 1 oper");
            final int writes = expectOver(() -> table.put(bytes("k"), bytes("w")), "PUT in table open is over quota");
            for (int i = 0; i < 100; i++)
            {
                assertThat(ben.table("open").get(bytes("k")).orElseThrow().value()).as("not written").isEqualTo(
                    bytes(0 == writes ? "v" : "w"));
                assertThat(operator.table("open").get(bytes("k"))).isPresent();
            }
            try
            {
                table.get(bytes("k"));
            }
            catch (final KvQuotaExceededException ex)
            {
                assertThat(ex.retryAfter()).isLessThanOrEqualTo(Duration.ofSeconds(1));
                Thread.sleep(ex.retryAfter().plusMillis(1));
                assertThat(table.get(bytes("k"))).isPresent();
            }
            quota("ann", UserQuota.NONE);
            for (int i = 0; i < 100; i++)
            {
                assertThat(table.get(bytes("k"))).isPresent();
            }
        }
    }

    @Test
    void shouldCountBytesThatAreSentAndThatAreFound() throws IOException
    {
        putAnn();
        awaitEnforced();
        quota("ann", new UserQuota(0, 10_000, 0, 0, 0));
        try (KvClient ann = user("ann", SECRET); KvClient operator = operator())
        {
            final KvTable table = ann.table("open");
            table.put(bytes("k"), new byte[10_000]);
            expectOver(() -> table.get(bytes("k")), "quota of 10000 bytes a second");
            quota("ann", UserQuota.NONE);
            quota("ann", new UserQuota(0, 10_000, 0, 0, 0));
            assertThat(table.get(bytes("k"))).isPresent();
            expectOver(() -> table.get(bytes("k")), "quota of 10000 bytes a second");
            assertThat(operator.table("open").get(bytes("k"))).isPresent();
        }
    }

    @Test
    void shouldRefuseSomeOfABatchOverTheNumberAtOneTime() throws IOException
    {
        putAnn();
        awaitEnforced();
        quota("ann", new UserQuota(0, 0, 1, 1, 0));
        try (KvClient ann = user("ann", SECRET))
        {
            final KvTable table = ann.table("open");
            for (int i = 0; i < 100; i++)
            {
                table.put(bytes("k"), bytes("v"));
            }
            boolean isRefused = false;
            for (int i = 0; i < 1_000 && !isRefused; i++)
            {
                final List<KvOutcome<Long>> outcomes = table.putAll(List.of(bytes("a"), bytes("b"), bytes("c"),
                    bytes("d")), List.of(bytes("v"), bytes("v"), bytes("v"), bytes("v")));
                assertThat(outcomes.stream().filter((outcome) -> !outcome.isSuccess()))
                    .allMatch((outcome) -> outcome.failure() instanceof KvQuotaExceededException);
                assertThat(outcomes).anyMatch(KvOutcome::isSuccess);
                isRefused = !outcomes.stream().allMatch(KvOutcome::isSuccess);
            }
            assertThat(isRefused).isTrue();
            assertThat(table.get(bytes("k"))).as("nothing is counted that is over").isPresent();
            assertThat(table.scan().stream().toList()).as("one part at a time").isNotEmpty();
        }
    }

    @Test
    void shouldMakeNoMoreTablesThanAUserMayHave() throws IOException
    {
        put("ann", SECRET, admin("mine-a"), admin("mine-b"), admin("mine-c"),
            new Grant("open", READ | WRITE, new byte[0]));
        awaitEnforced();
        quota("ann", new UserQuota(0, 0, 0, 0, 2));
        final TableOptions options = new TableOptions(10);
        try (KvClient ann = user("ann", SECRET); KvClient operator = operator())
        {
            operator.createTable("mine-a", options);
            ann.createTable("mine-b", options);
            assertThatThrownBy(() -> ann.createTable("mine-c", options))
                .isInstanceOfSatisfying(KvQuotaExceededException.class, (ex) ->
                    assertThat(ex.retryAfter()).isZero())
                .hasMessageContaining("create table mine-c is over quota: ")
                .hasMessageContaining("user ann has a quota of 2 tables").hasMessageNotContaining("\n");
            assertThat(operator.tables()).contains("mine-a", "mine-b").doesNotContain("mine-c");
            assertThatThrownBy(() -> ann.createTable("mine-b", options)).isInstanceOf(KvTableExistsException.class);
            operator.createTable("mine-c", options);
            operator.dropTable("mine-c");
            operator.createTable("other", options);
            operator.dropTable("other");
            ann.dropTable("mine-a");
            ann.createTable("mine-c", options);
            quota("ann", UserQuota.NONE);
            ann.createTable("mine-a", options);
            List.of("mine-a", "mine-b", "mine-c").forEach(ann::dropTable);
        }
    }

    @Test
    void shouldMakeNoMoreTablesThanAUserMayHaveAtOnce() throws Exception
    {
        final List<String> names = IntStream.range(0, 8).mapToObj((i) -> "at-once-" + i).toList();
        put("ann", SECRET, names.stream().map(UserQuotasTest::admin).toArray(Grant[]::new));
        awaitEnforced();
        quota("ann", new UserQuota(0, 0, 0, 0, 3));
        try (KvClient ann = user("ann", SECRET); KvClient operator = operator())
        {
            final List<FutureTask<String>> tasks = names.stream().map((name) -> new FutureTask<>(() ->
            {
                try
                {
                    ann.createTable(name, new TableOptions(10));
                    return name;
                }
                catch (final KvQuotaExceededException ex)
                {
                    return null;
                }
            })).toList();
            tasks.forEach((task) -> Thread.ofPlatform().start(task));
            final List<String> made = new ArrayList<>();
            for (final FutureTask<String> task : tasks)
            {
                if (null != task.get())
                {
                    made.add(task.get());
                }
            }
            assertThat(made).hasSize(3);
            assertThat(operator.tables().stream().filter(names::contains)).containsExactlyInAnyOrderElementsOf(made);
            made.forEach(operator::dropTable);
        }
    }

    private static Grant admin(final String table)
    {
        return new Grant(table, TableRight.ADMIN.bit(), new byte[0]);
    }

    @Test
    void shouldAnswerClientsOfRedisWithTheTime()
    {
        put("ann", SECRET, new Grant("default", READ | WRITE, new byte[0]));
        awaitEnforced();
        quota("ann", new UserQuota(1, 0, 0, 0, 0));
        try (Jedis jedis = new Jedis(LOOPBACK, compute.respPort(), JEDIS_TIMEOUT_MS))
        {
            assertThat(jedis.auth("ann", SECRET)).isEqualTo("OK");
            assertThat(jedis.set("k", "v")).isEqualTo("OK");
            assertThatThrownBy(() ->
            {
                for (int i = 0; i < MAX_CARRIED_OUT; i++)
                {
                    jedis.get("k");
                }
            }).hasMessageMatching(
                "QUOTA user ann has a quota of 1 operations a second at a compute node, try again in \\d+ ms");
            assertThat(jedis.ping()).as("no operation").isEqualTo("PONG");
            quota("ann", UserQuota.NONE);
            assertThat(jedis.get("k")).isEqualTo("v");
        }
    }
}
