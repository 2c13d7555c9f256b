package io.verbena.cli.autoscale;

import io.verbena.client.KvTable;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class OpenLoadTest
{
    private int asked;

    private KvTable table(final IntFunction<CompletableFuture<Optional<byte[]>>> answer)
    {
        return (KvTable)Proxy.newProxyInstance(KvTable.class.getClassLoader(), new Class<?>[]{KvTable.class},
            (_, method, _) ->
            {
                assertThat(method.getName()).isEqualTo("getAsync");
                return answer.apply(asked++);
            });
    }

    private static void await(final BooleanSupplier condition) throws InterruptedException
    {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        while (!condition.getAsBoolean())
        {
            assertThat(System.nanoTime() - deadlineNs).isNegative();
            Thread.sleep(1);
        }
    }

    @Test
    void shouldCountFailuresAndMissingRecordsWithTheFirstReason() throws InterruptedException
    {
        final OpenLoad load = new OpenLoad(table((number) -> 3 == number ?
            CompletableFuture.failedFuture(new IllegalStateException("late")) : 5 == number ?
            CompletableFuture.completedFuture(Optional.empty()) :
            CompletableFuture.completedFuture(Optional.of(new byte[1]))), 10, SystemNanoClock.INSTANCE);
        try (load)
        {
            assertThat(load.firstFailure()).isEmpty();
            load.rate(2_000);
            await(() -> 2 == load.failures());
            assertThat(load.firstFailure()).contains("late");
        }
    }

    /** What is due while answers are late counts from when it was due, and not from when there was room for it. */
    @Test
    void shouldCountFromWhenAnOperationWasDue() throws InterruptedException
    {
        final long[] heldNs = new long[1];
        final OpenLoad load = new OpenLoad(table((number) ->
        {
            if (100 == number)
            {
                final long sinceNs = System.nanoTime();
                while (System.nanoTime() - sinceNs < TimeUnit.MILLISECONDS.toNanos(300))
                {
                    Thread.onSpinWait(); // nothing more can be asked meanwhile
                }
                heldNs[0] = System.nanoTime();
            }
            return CompletableFuture.completedFuture(Optional.of(new byte[1]));
        }), 10, SystemNanoClock.INSTANCE);
        try (load)
        {
            load.rate(1_000);
            await(() -> 0 != heldNs[0] && load.p99Us(0, load.window() + 1) > 0 && load.window() > 4);
            load.rate(0);
            assertThat(load.p99Us(0, load.window() + 1)).isGreaterThan(150_000);
        }
    }

    @Test
    void shouldAskAtTheRateThatIsSet() throws InterruptedException
    {
        final OpenLoad load = new OpenLoad(table((_) ->
            CompletableFuture.completedFuture(Optional.of(new byte[1]))), 10, SystemNanoClock.INSTANCE);
        try (load)
        {
            load.rate(400);
            await(() -> load.askedPerSecond(6) > 0);
            // They are filled one after the other, by when operations were due, whatever the thread was kept from.
            double sum = 0;
            for (int window = 1; window <= 4; window++)
            {
                sum += load.askedPerSecond(window);
            }
            assertThat(sum / 4).isBetween(350.0, 450.0);
        }
    }
}
