package io.verbena.embedded;

import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.KvUnavailableException;
import io.verbena.client.TableOptions;
import io.verbena.elle.Validity;
import io.verbena.elle.linear.LinearChecker;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Compute nodes come, go and die under load, with threads. */
@Timeout(120)
class EmbeddedClusterElasticityTest
{
    private static final int THREADS = 6;
    private static final int KEYS = 8;
    private static final int BETWEEN = 300;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);

    private EmbeddedCluster cluster;
    private KvTable table;

    @BeforeEach
    void setUp()
    {
        cluster = EmbeddedCluster.start(new EmbeddedClusterOptions().memoryBytesPerNode(32 << 20));
        table = cluster.client().createTable("t", new TableOptions(100));
    }

    @AfterEach
    void tearDown()
    {
        cluster.close();
    }

    @Test
    void shouldFailNoOperationWhenNodesComeAndGo() throws InterruptedException
    {
        final ThreadedClients clients = new ThreadedClients(table, KEYS, TIMEOUT_NS).start(THREADS);
        for (int round = 0; round < 4; round++)
        {
            clients.awaitMore(BETWEEN);
            final ComputeNodeHandle added = cluster.addComputeNode();
            clients.awaitMore(BETWEEN);
            cluster.removeComputeNode(cluster.computeNodes().getFirst().nodeId());
            clients.awaitMore(BETWEEN);
            assertThat(added.joinToFirstRequestNs()).isGreaterThan(added.joinToReadyNs());
            assertThat(added.operationCount()).isPositive();
        }
        clients.stop();

        assertThat(clients.surprises()).isEmpty();
        assertThat(clients.failures()).isEmpty();
        assertLinearizable(clients);
    }

    @Test
    void shouldHangNoOperationWhenNodesAreKilled() throws InterruptedException
    {
        cluster.addComputeNode();
        final ThreadedClients clients = new ThreadedClients(table, KEYS, TIMEOUT_NS).start(THREADS);
        for (int round = 0; round < 3; round++)
        {
            clients.awaitMore(BETWEEN);
            cluster.killComputeNode(cluster.computeNodes().getFirst().nodeId());
            clients.awaitMore(BETWEEN);
            cluster.addComputeNode();
        }
        clients.awaitMore(BETWEEN);
        clients.stop();

        assertThat(clients.surprises()).isEmpty();
        assertThat(clients.failures()).as("only what a dead node had begun may be unknown, and no read")
            .allSatisfy((failure) ->
                assertThat(failure.category()).isEqualTo(KvException.Category.OUTCOME_UNKNOWN))
            .hasSizeLessThanOrEqualTo(3 * THREADS);
        assertLinearizable(clients);
    }

    @Test
    void shouldWaitForANodeWhenThereIsNone() throws Exception
    {
        table.put(new byte[] {1}, new byte[] {2});
        cluster.removeComputeNode(cluster.computeNodes().getFirst().nodeId());
        assertThatThrownBy(() -> table.withTimeout(Duration.ofMillis(5)).get(new byte[] {1}))
            .isInstanceOf(KvUnavailableException.class);

        final CompletableFuture<Boolean> waiting = table.withTimeout(TIMEOUT).existsAsync(new byte[] {1});
        cluster.addComputeNode();

        assertThat(waiting.get()).isTrue();
        assertThat(table.withTimeout(TIMEOUT).get(new byte[] {1})).isPresent();
    }

    private static void assertLinearizable(final ThreadedClients clients)
    {
        final LinearVerdict verdict =
            new LinearChecker<>(Models.versionedKvMap(), LinearOptions.defaults()).check(clients.history());
        assertThat(verdict.validity()).as(verdict.explanation()).isEqualTo(Validity.VALID);
    }
}
