package io.verbena.cli.autoscale;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/** Launches of spares beside the decisions; what is launched is made up here. */
@Timeout(60)
class SpareLaunchesTest
{
    private static final String NOT_READY = "spare-1 is not ready after 60 s";

    private final AtomicInteger changes = new AtomicInteger();
    private volatile long nowMs = 50;
    private final SpareLaunches launches = new SpareLaunches(() -> TimeUnit.MILLISECONDS.toNanos(nowMs));

    private void awaitEnd()
    {
        while (launches.isUnderWay())
        {
            Thread.onSpinWait();
        }
    }

    private void fail(final RuntimeException failure)
    {
        assertThat(launches.begin(() ->
        {
            changes.incrementAndGet();
            throw failure;
        })).isNull();
        awaitEnd();
    }

    private void fail()
    {
        fail(new CommandFailedException(ExitStatus.UNAVAILABLE, NOT_READY, null));
    }

    @Test
    void shouldSayOnceWhyALaunchFailed()
    {
        assertThat(launches.failure()).as("none was begun").isNull();
        fail();
        assertThat(launches.failure()).isEqualTo(NOT_READY);
        assertThat(launches.failure()).isNull();
        nowMs += 2_000;
        fail(new IllegalStateException("lost"));
        assertThat(launches.begin(changes::incrementAndGet)).as("without a pause, why the last one failed")
            .isEqualTo("java.lang.IllegalStateException: lost");
        assertThat(changes).hasValue(2);
    }

    @Test
    void shouldTryAgainLaterAndLaterUntilALaunchGoesWell()
    {
        for (final long pauseMs : new long[]{2_000, 4_000, 8_000})
        {
            fail();
            assertThat(launches.failure()).isEqualTo(NOT_READY);
            final int before = changes.get();
            nowMs += pauseMs - 1;
            assertThat(launches.begin(changes::incrementAndGet)).isNull();
            assertThat(launches.isUnderWay()).isFalse();
            assertThat(changes).hasValue(before);
            nowMs++;
        }
        assertThat(launches.begin(changes::incrementAndGet)).isNull();
        awaitEnd();
        assertThat(launches.failure()).isNull();
        assertThat(changes).hasValue(4);
        fail();
        assertThat(launches.failure()).isEqualTo(NOT_READY);
        nowMs += 2_000;
        fail();
        assertThat(changes).as("after one that went well, from the first pause on").hasValue(6);
    }

    @Test
    void shouldMakeOneChangeAtATime() throws InterruptedException
    {
        final CountDownLatch goOn = new CountDownLatch(1);
        final CountDownLatch begun = new CountDownLatch(1);
        launches.begin(() ->
        {
            begun.countDown();
            await(goOn);
            changes.incrementAndGet();
        });
        begun.await();
        assertThat(launches.isUnderWay()).isTrue();
        assertThat(launches.failure()).isNull();
        assertThat(launches.begin(() -> changes.addAndGet(100))).isNull();
        final Thread decisions = Thread.ofPlatform().start(() -> launches.alone(() -> changes.set(10 * changes.get())));
        while (Thread.State.WAITING != decisions.getState() && decisions.isAlive())
        {
            Thread.onSpinWait();
        }
        assertThat(changes).hasValue(0);
        goOn.countDown();
        decisions.join();
        assertThat(changes).as("the launch, then the other change").hasValue(10);
        awaitEnd();
        launches.begin(changes::incrementAndGet);
        awaitEnd();
        assertThat(changes).as("and both have let go").hasValue(11);
    }

    /** A look during a launch must not use up the report of how it ends, nor count it as one that went well. */
    @Test
    void shouldReportAFailureAlsoWhenSomebodyLookedDuringTheLaunch() throws InterruptedException
    {
        fail();
        assertThat(launches.failure()).isEqualTo(NOT_READY);
        nowMs += 2_000;
        final CountDownLatch goOn = new CountDownLatch(1);
        final CountDownLatch begun = new CountDownLatch(1);
        assertThat(launches.begin(() ->
        {
            begun.countDown();
            await(goOn);
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, NOT_READY, null);
        })).isNull();
        begun.await();
        assertThat(launches.failure()).as("it is under way").isNull();
        goOn.countDown();
        awaitEnd();
        assertThat(launches.failure()).isEqualTo(NOT_READY);
        nowMs += 3_999;
        assertThat(launches.begin(changes::incrementAndGet)).isNull();
        assertThat(launches.isUnderWay()).as("the pause is that of the second failure in a row").isFalse();
        assertThat(changes).hasValue(1);
    }

    @Test
    void shouldLetGoAlsoWhenAChangeFails() throws InterruptedException
    {
        try
        {
            launches.alone(() ->
            {
                throw new IllegalStateException();
            });
        }
        catch (final IllegalStateException ex)
        {
            changes.incrementAndGet();
        }
        fail();
        final Thread decisions = Thread.ofPlatform().start(() -> launches.alone(changes::incrementAndGet));
        decisions.join();
        assertThat(changes).hasValue(3);
    }

    @Test
    void shouldInterruptTheLaunchUnderWayWhenItIsClosedAndWaitForIt() throws InterruptedException
    {
        launches.close();
        final CountDownLatch begun = new CountDownLatch(1);
        launches.begin(() ->
        {
            begun.countDown();
            await(new CountDownLatch(1));
            changes.incrementAndGet();
        });
        begun.await();
        launches.close();
        assertThat(changes).as("it has given up").hasValue(1);
        awaitEnd();
    }

    /** Also ends when it is interrupted, as the wait for a process does. */
    private static void await(final CountDownLatch latch)
    {
        try
        {
            latch.await();
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }
}
