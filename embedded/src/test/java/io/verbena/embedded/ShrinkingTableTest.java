package io.verbena.embedded;

import io.verbena.client.KvClient;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.compute.ComputeNodeException;
import io.verbena.compute.StoreObserver;
import io.verbena.elle.Validity;
import io.verbena.elle.linear.LinearChecker;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;
import io.verbena.memory.MemoryNodeConfiguration;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A table on real threads that grows, is emptied and shrinks while a compute node ends without a word, under the eyes
 * of a check that goes on all the time.
 */
@Timeout(180)
class ShrinkingTableTest
{
    private static final int RECORDS = 60_000;
    private static final int STAYS_ONE_IN = 300;
    private static final int KEYS = 8;
    private static final int THREADS = 3;
    private static final int WINDOW = 64;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final long LOOK_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long CLIENT_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);

    @TempDir
    private Path directory;
    private final Semaphore window = new Semaphore(WINDOW);
    private final Queue<String> problems = new ConcurrentLinkedQueue<>();
    private volatile int subtables;
    private volatile int checks;
    private volatile boolean isStopped;

    private static byte[] key(final int number)
    {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }

    private void change(final KvTable table, final int number, final boolean isPut)
    {
        final CompletableFuture<?> done = isPut ?
            table.withTimeout(RemoteCluster.STEP).putAsync(key(number), key(-number)) :
            table.withTimeout(RemoteCluster.STEP).deleteAsync(key(number));
        done.whenComplete((result, error) ->
        {
            if (error instanceof final KvException ex && ex.category() == KvException.Category.OUTCOME_UNKNOWN)
            {
                // By a node that ended: both can be done again.
                change(table, number, isPut);
                return;
            }
            if (error != null)
            {
                problems.add((isPut ? "put " : "delete ") + number + ": " + error);
            }
            window.release();
        });
    }

    private void acquire(final int count) throws InterruptedException
    {
        assertThat(window.tryAcquire(count, RemoteCluster.STEP_NS, TimeUnit.NANOSECONDS))
            .as("answered in time; subtables=%d checks=%d problems=%s", subtables, checks, problems).isTrue();
    }

    private void check(final RemoteCluster cluster)
    {
        while (!isStopped)
        {
            try (StoreObserver observer = cluster.observer())
            {
                checkUntilStopped(observer);
            }
            catch (final ComputeNodeException ex)
            {
                assertHadToLookAgain(ex);
            }
        }
    }

    /** On a busy machine the thread of an observer may be kept waiting for longer than its lease lasts. */
    private static void assertHadToLookAgain(final ComputeNodeException ex)
    {
        assertThat(ex).hasMessageEndingWith("; look again");
    }

    private static boolean isSound(final RemoteCluster cluster)
    {
        final long deadlineNs = System.nanoTime() + RemoteCluster.STEP_NS;
        while (true)
        {
            try (StoreObserver observer = cluster.observer())
            {
                return new StoreChecker(observer).check(observer.memoryNodeIds()).isSound();
            }
            catch (final ComputeNodeException ex)
            {
                assertHadToLookAgain(ex);
                assertThat(System.nanoTime() - deadlineNs).isNegative();
            }
        }
    }

    private void checkUntilStopped(final StoreObserver observer)
    {
        while (!isStopped)
        {
            final StoreCheck check = new StoreChecker(observer).check(observer.memoryNodeIds());
            problems.addAll(check.problems());
            check.tables().values().forEach(table -> problems.addAll(table.problems()));
            subtables = observer.tables().getFirst().distinctSubtables();
            checks++;
        }
    }

    private void awaitSubtables(final int least, final int most)
    {
        RemoteCluster.await(() -> subtables >= least && subtables <= most || !problems.isEmpty());
        assertThat(problems).isEmpty();
    }

    @Test
    void shouldShrinkWhileANodeEndsAndNeverLookDamaged() throws Exception
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 3,
            new MemoryNodeConfiguration().regionLengthBytes(24 << 20).chunkLengthBytes(CHUNK_BYTES), LOOK_PAUSE_NS);
            KvClient client = cluster.client())
        {
            final KvTable table = client.createTable("t", new TableOptions(1_000));
            final CompletableFuture<?> checker = CompletableFuture.runAsync(
                () -> check(cluster), (checking) -> new Thread(checking, "checker").start());
            awaitSubtables(1, Integer.MAX_VALUE);
            final int least = subtables;
            final ThreadedClients clients =
                new ThreadedClients(table, KEYS, RemoteCluster.STEP_NS).pausing(CLIENT_PAUSE_NS).start(THREADS);
            for (int i = 0; i < RECORDS; i++)
            {
                acquire(1);
                change(table, i, true);
            }
            awaitSubtables(4 * least, Integer.MAX_VALUE);
            final int before = checks;
            for (int i = 0; i < RECORDS; i++)
            {
                if (i == RECORDS / 2)
                {
                    cluster.kill(cluster.computes().getFirst());
                }
                if (i % STAYS_ONE_IN != 0)
                {
                    acquire(1);
                    change(table, i, false);
                }
            }
            awaitSubtables(least, least);
            assertThat(checks).as("whole checks while records were deleted").isGreaterThan(before);
            clients.stop();
            isStopped = true;
            checker.get(RemoteCluster.STEP_NS, TimeUnit.NANOSECONDS);
            acquire(WINDOW);
            assertThat(problems).isEmpty();
            assertRight(table, clients);
            assertThat(isSound(cluster)).isTrue();
        }
    }

    private static void assertRight(final KvTable table, final ThreadedClients clients)
    {
        for (int i = 0; i < RECORDS; i++)
        {
            if (i % STAYS_ONE_IN < 2)
            {
                assertThat(table.withTimeout(RemoteCluster.STEP).exists(key(i))).as("key %d", i)
                    .isEqualTo(i % STAYS_ONE_IN == 0);
            }
        }
        assertThat(clients.surprises()).isEmpty();
        assertThat(clients.failures()).extracting(KvException::category)
            .isSubsetOf(List.of(KvException.Category.OUTCOME_UNKNOWN));
        final LinearVerdict verdict =
            new LinearChecker<>(Models.versionedKvMap(), LinearOptions.defaults()).check(clients.history());
        assertThat(verdict.validity()).as(verdict.explanation()).isEqualTo(Validity.VALID);
    }
}
