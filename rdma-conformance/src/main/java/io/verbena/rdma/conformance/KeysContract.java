package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The same bytes registered several times, each registration with a key of its own: closing one takes the bytes away
 * from those who have its key, and from nobody else. The memory is that of {@code a}, the requests come from {@code b}.
 */
abstract class KeysContract extends VerbsHarness
{
    private static final int WRITES = 12;
    /** A slot for each WRITE of the closed key, behind them the other key's. */
    private static final int WRITE_BYTES = 2048;
    private static final int OTHER_AT = WRITES * WRITE_BYTES;
    private static final int MOMENTS = 24;
    /** Of the closed key's requests with others behind them. */
    private static final int ROUNDS = 4;
    private static final long ADDITION = 100;
    private static final long OF_CLOSED_KEY = 101;

    private MemoryRegion again(final int accessFlags)
    {
        return own(register(accessFlags));
    }

    private MemoryRegion register(final int accessFlags)
    {
        if (!a.device.attributes().supports(DeviceCapability.REGISTER_WHOLE_PAGES))
        {
            throw new UnsupportedVerbException("registering memory once more", a.device.name());
        }
        return a.domain.register(a.region.segment(), accessFlags);
    }

    private Runnable write(
        final QueuePair from, final long wrId, final int length, final MemoryRegion region, final long offset)
    {
        return () -> from.write(
            wrId, SIGNALED, b.address(0), length, b.key(), region.address() + offset, region.remoteKey());
    }

    private Runnable write(final long wrId, final int length, final MemoryRegion region, final long offset)
    {
        return write(b.queuePair, wrId, length, region, offset);
    }

    private int statusOf(final Runnable request)
    {
        assertThat(post(b, request)).isEqualTo(PostStatus.OK);
        return awaitOne(b).status();
    }

    @Test
    void shouldReachTheSameBytesByEachKey()
    {
        connect();
        final MemoryRegion first = again(AccessFlags.ALL_REMOTE);
        final MemoryRegion second = again(AccessFlags.ALL_REMOTE);
        assertThat(List.of(first.remoteKey(), second.remoteKey(), a.region.remoteKey())).doesNotHaveDuplicates();
        assertThat(List.of(first.localKey(), second.localKey(), a.region.localKey())).doesNotHaveDuplicates();
        a.putLong(8, 40);
        for (final MemoryRegion region : List.of(first, second, a.region))
        {
            assertThat(statusOf(() -> b.queuePair.fetchAdd(
                1, SIGNALED, b.address(0), b.key(), region.address() + 8, region.remoteKey(), 1))).isZero();
        }
        assertThat(b.getLong(0)).isEqualTo(42);
        assertThat(a.getLong(8)).isEqualTo(43);
        assertThat(second.segment().get(JAVA_LONG, 8)).isEqualTo(43);
    }

    @Test
    void shouldGiveEachKeyRightsOfItsOwn()
    {
        connect();
        final MemoryRegion reader = again(AccessFlags.REMOTE_READ);
        final MemoryRegion writer = again(AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
        b.putLong(0, 7);
        assertThat(statusOf(write(1, 8, writer, 0))).isZero();
        assertThat(statusOf(() -> b.queuePair.read(
            2, SIGNALED, b.address(8), 8, b.key(), reader.address(), reader.remoteKey()))).isZero();
        assertThat(b.getLong(8)).isEqualTo(7);
        b.putLong(0, 8);
        assertThat(statusOf(write(3, 8, reader, 0))).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(a.getLong(0)).isEqualTo(7);
    }

    @Test
    void shouldServeOneKeyWhenTheOtherIsClosed()
    {
        connect();
        final MemoryRegion closed = again(AccessFlags.ALL_REMOTE);
        final MemoryRegion kept = again(AccessFlags.ALL_REMOTE);
        b.putLong(0, 1);
        assertThat(statusOf(write(1, 8, closed, 0))).isZero();
        assertThat(statusOf(write(2, 8, kept, 8))).isZero();
        close(closed);
        b.putLong(0, 2);
        assertThat(statusOf(write(3, 8, kept, 8))).isZero();
        assertThat(statusOf(write(4, 8, closed, 0))).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(a.getLong(0)).isEqualTo(1);
        assertThat(a.getLong(8)).isEqualTo(2);
    }

    @Test
    void shouldNotLetTheKeyOfASuccessorBeThatOfTheClosedOne()
    {
        connect();
        final List<Integer> keys = new ArrayList<>();
        for (int i = 0; i < 50; i++)
        {
            final MemoryRegion region = again(AccessFlags.ALL_REMOTE);
            keys.add(region.remoteKey());
            close(region);
        }
        assertThat(keys).doesNotHaveDuplicates().doesNotContain(a.region.remoteKey());
    }

    private void close(final MemoryRegion region)
    {
        disown(region);
        region.close();
    }

    /**
     * WRITEs of two queue pairs under way, each with a key, one of which is closed at different moments: no byte lands
     * with it once it is closed, and those with the other one are served.
     */
    @Test
    void shouldEndRequestsUnderWayOfTheClosedKeyAndNoOthers()
    {
        for (int moment = 0; moment < MOMENTS; moment++)
        {
            closeWhileInUse(moment);
        }
    }

    private void closeWhileInUse(final int moment)
    {
        try (QueuePair fencedHere = a.domain.createQueuePair(a.options(QueuePairType.RC));
            QueuePair fenced = b.domain.createQueuePair(b.options(QueuePairType.RC));
            QueuePair otherHere = a.domain.createQueuePair(a.options(QueuePairType.RC));
            QueuePair other = b.domain.createQueuePair(b.options(QueuePairType.RC));
            MemoryRegion kept = register(AccessFlags.ALL_REMOTE))
        {
            connect(fenced, fencedHere);
            connect(other, otherHere);
            final MemoryRegion closed = register(AccessFlags.ALL_REMOTE);
            a.fill(0);
            b.fill(0x11);
            post(fenced, closed, 0, WRITE_BYTES);
            post(other, kept, OTHER_AT, 8);
            for (int i = 0; i < moment; i++)
            {
                rig.progress();
            }
            closed.close();
            final byte[] atClose = a.bytes(0, OTHER_AT);
            final List<Completion> completions = await(b, 2 * WRITES);
            // At the latest this one is refused; where everything was done before, it is the first.
            fenced.begin();
            write(fenced, WRITES, 8, closed, 0).run();
            assertThat(fenced.complete()).isEqualTo(PostStatus.OK);
            completions.addAll(await(b, 1));
            settle();
            assertEnded(statuses(completions, fenced), "closed after " + moment + " steps");
            assertThat(statuses(completions, other)).hasSize(WRITES).containsOnly(WorkCompletionStatus.SUCCESS);
            assertThat(a.bytes(0, OTHER_AT)).as("bytes, closed after %s steps", moment).isEqualTo(atClose);
            assertThat(a.bytes(OTHER_AT, WRITES * 8)).containsOnly(0x11);
        }
    }

    private void connect(final QueuePair from, final QueuePair to)
    {
        final QueuePairSteps steps = new QueuePairSteps();
        steps.bringUp(to, b.device.address(from), from.number());
        steps.bringUp(from, a.device.address(to), to.number());
    }

    private static List<Integer> statuses(final List<Completion> completions, final QueuePair of)
    {
        return completions.stream().filter(completion -> completion.queuePair() == of.number())
            .map(Completion::status).toList();
    }

    /** Some succeeded, one was refused, the rest was flushed. */
    private static void assertEnded(final List<Integer> statuses, final String when)
    {
        final int refused = statuses.indexOf(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(refused).as("%s: %s", when, statuses).isNotNegative();
        assertThat(statuses).hasSize(WRITES + 1);
        assertThat(statuses.subList(0, refused)).as(when)
            .allMatch(status -> status == WorkCompletionStatus.SUCCESS);
        assertThat(statuses.subList(refused + 1, WRITES + 1)).as(when)
            .allMatch(status -> status == WorkCompletionStatus.WR_FLUSH_ERR);
    }

    private void post(final QueuePair from, final MemoryRegion region, final int offset, final int lengthBytes)
    {
        from.begin();
        for (int i = 0; i < WRITES; i++)
        {
            write(from, i, lengthBytes, region, offset + (long)i * lengthBytes).run();
        }
        assertThat(from.complete()).isEqualTo(PostStatus.OK);
    }

    /** One queue pair for both keys: what is behind a refused request is flushed and not executed, whatever its key. */
    @Test
    void shouldExecuteNothingBehindARefusedRequestWhateverItsKey()
    {
        connect();
        final MemoryRegion closed = again(AccessFlags.ALL_REMOTE);
        final MemoryRegion kept = again(AccessFlags.ALL_REMOTE);
        close(closed);
        b.putLong(0, 5);
        assertThat(post(b, write(1, 8, kept, 0), write(2, 8, closed, 8), write(3, 8, kept, 16), () ->
            b.queuePair.fetchAdd(4, SIGNALED, b.address(8), b.key(), kept.address() + 24, kept.remoteKey(), 1)))
            .isEqualTo(PostStatus.OK);
        assertThat(await(b, 4)).extracting(Completion::status).containsExactly(
            WorkCompletionStatus.SUCCESS, WorkCompletionStatus.REM_ACCESS_ERR, WorkCompletionStatus.WR_FLUSH_ERR,
            WorkCompletionStatus.WR_FLUSH_ERR);
        settle();
        assertThat(a.getLong(0)).isEqualTo(5);
        assertThat(a.getLong(8)).isZero();
        assertThat(a.getLong(16)).isZero();
        assertThat(a.getLong(24)).isZero();
    }

    /**
     * Requests of one key, and additions and WRITEs of another behind each, over one queue pair, and the first key
     * closed at different moments: nothing behind the refused request is executed, so that it can be posted again over
     * another queue pair. READs of the closed key are left out: the specification lets a READ be executed after what is
     * behind it.
     */
    @Test
    void shouldExecuteNothingBehindARequestRefusedAtAnyMoment()
    {
        for (int moment = 0; moment < MOMENTS; moment++)
        {
            closeBeforeOthers(moment, true);
            closeBeforeOthers(moment, false);
        }
    }

    private void closeBeforeOthers(final int moment, final boolean isWrite)
    {
        try (QueuePair here = a.domain.createQueuePair(a.options(QueuePairType.RC));
            QueuePair from = b.domain.createQueuePair(b.options(QueuePairType.RC));
            MemoryRegion kept = register(AccessFlags.ALL_REMOTE))
        {
            connect(from, here);
            final MemoryRegion closed = register(AccessFlags.ALL_REMOTE);
            a.fill(0);
            b.fill(0x11);
            from.begin();
            for (int i = 0; i < ROUNDS; i++)
            {
                round(from, i, isWrite, closed, kept);
            }
            assertThat(from.complete()).isEqualTo(PostStatus.OK);
            for (int i = 0; i < moment; i++)
            {
                rig.progress();
            }
            closed.close();
            final List<Completion> completions = await(b, ROUNDS * 3);
            // At the latest this one is refused.
            from.begin();
            round(from, ROUNDS, isWrite, closed, kept);
            assertThat(from.complete()).isEqualTo(PostStatus.OK);
            completions.addAll(await(b, 3));
            settle();
            final String when = "closed after " + moment + " steps, isWrite=" + isWrite;
            assertThat(completions).as(when).extracting(Completion::status)
                .contains(WorkCompletionStatus.REM_ACCESS_ERR);
            assertThat(a.getLong(OTHER_AT)).as("additions, %s", when)
                .isEqualTo(completions.stream().filter(done -> done.wrId() == ADDITION && done.status() == 0).count());
            for (final Completion done : completions)
            {
                if (done.wrId() < ADDITION)
                {
                    assertThat(a.getLong(OTHER_AT + 8 + (int)done.wrId() * 8)).as("WRITE %s, %s", done.wrId(), when)
                        .isEqualTo(done.status() == WorkCompletionStatus.SUCCESS ? 0x1111_1111_1111_1111L : 0);
                }
            }
        }
    }

    private void round(
        final QueuePair from, final int index, final boolean isWrite, final MemoryRegion closed,
        final MemoryRegion kept)
    {
        if (isWrite)
        {
            write(from, OF_CLOSED_KEY, WRITE_BYTES, closed, (long)index * WRITE_BYTES).run();
        }
        else
        {
            addition(from, OF_CLOSED_KEY, closed, (long)index * WRITE_BYTES);
        }
        addition(from, ADDITION, kept, OTHER_AT);
        write(from, index, 8, kept, OTHER_AT + 8 + index * 8L).run();
    }

    private void addition(final QueuePair from, final long wrId, final MemoryRegion region, final long offset)
    {
        from.fetchAdd(
            wrId, SIGNALED, b.address(OTHER_AT), b.key(), region.address() + offset, region.remoteKey(), 1);
    }
}
