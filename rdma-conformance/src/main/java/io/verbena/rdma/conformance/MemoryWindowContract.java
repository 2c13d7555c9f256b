package io.verbena.rdma.conformance;

import io.verbena.rdma.conformance.remote.RegionMemory;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.Test;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Type 2 memory windows: BIND_MW, LOCAL_INV, SEND_WITH_INV. */
abstract class MemoryWindowContract extends VerbsHarness
{
    private static final int READ_WRITE = AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;
    private static final int ATOMIC = AccessFlags.REMOTE_ATOMIC;

    private MemoryRegion region;
    private MemoryWindow window;

    /** A window of the responder, not bound yet, and a region that peers have no right to. */
    private void prepare(final int regionFlags)
    {
        connect();
        window = b.domain.allocateMemoryWindow();
        region = own(b.domain.allocateRegistered(4096, regionFlags));
        own(window);
    }

    private void prepare()
    {
        prepare(AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
    }

    private Runnable bindRequest(final long offset, final long lengthBytes, final int flags)
    {
        return () -> b.queuePair.bindMemoryWindow(
            50, SIGNALED, window, window.nextRemoteKey(), region, region.address() + offset, lengthBytes, flags);
    }

    private int bind(final long offset, final long lengthBytes, final int flags)
    {
        final int key = window.nextRemoteKey();
        assertThat(post(b, bindRequest(offset, lengthBytes, flags))).isEqualTo(PostStatus.OK);
        assertThat(awaitOne(b)).extracting(Completion::status, Completion::opcode)
            .containsExactly(WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.BIND_MW);
        assertThat(window.remoteKey()).isEqualTo(key);
        return key;
    }

    private void invalidate(final int key)
    {
        post(b, () -> b.queuePair.localInvalidate(51, SIGNALED, key));
        assertThat(awaitOne(b)).extracting(Completion::status, Completion::opcode)
            .containsExactly(WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.LOCAL_INV);
    }

    private int writeThrough(final int key, final long address)
    {
        return execute(() -> a.queuePair.write(1, SIGNALED, a.address(0), 8, a.key(), address, key)).status();
    }

    private int readThrough(final int key, final long address)
    {
        return execute(() -> a.queuePair.read(1, SIGNALED, a.address(8), 8, a.key(), address, key)).status();
    }

    @Test
    void shouldGiveRightsOfWindowOnRegionWithoutRemoteRights()
    {
        prepare();
        final int key = bind(64, 128, READ_WRITE);
        a.putLong(0, 17);
        assertThat(writeThrough(key, region.address() + 64)).isZero();
        assertThat(RegionMemory.getLong(region, 64)).isEqualTo(17);
        assertThat(readThrough(key, region.address() + 64)).isZero();
        assertThat(a.getLong(8)).isEqualTo(17);
        assertThat(readThrough(region.remoteKey(), region.address())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void shouldRefuseAccessBeforeWindow()
    {
        prepare();
        final int key = bind(64, 128, READ_WRITE);
        assertThat(writeThrough(key, region.address() + 60)).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(RegionMemory.getLong(region, 56)).isZero();
    }

    @Test
    void shouldRefuseAccessBehindWindow()
    {
        prepare();
        final int key = bind(64, 128, READ_WRITE);
        assertThat(readThrough(key, region.address() + 64 + 124)).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        awaitState(b.queuePair, QueuePairState.ERR);
    }

    @Test
    void shouldRefuseWhatWindowGivesNoRightTo()
    {
        prepare();
        final int key = bind(0, 4096, AccessFlags.REMOTE_READ);
        assertThat(readThrough(key, region.address())).isZero();
        assertThat(writeThrough(key, region.address())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(RegionMemory.getLong(region, 0)).isZero();
    }

    @Test
    void shouldExecuteAtomicsThroughWindow()
    {
        prepare();
        final int key = bind(0, 4096, ATOMIC);
        assertThat(execute(() -> a.queuePair.fetchAdd(
            1, SIGNALED, a.address(0), a.key(), region.address() + 8, key, 5)).status()).isZero();
        assertThat(RegionMemory.getLong(region, 8)).isEqualTo(5);
    }

    @Test
    void shouldCountFromZeroWhenWindowIsZeroBased()
    {
        prepare();
        final int key = bind(64, 128, READ_WRITE | AccessFlags.ZERO_BASED);
        a.putLong(0, 23);
        assertThat(writeThrough(key, 8)).isZero();
        assertThat(RegionMemory.getLong(region, 72)).isEqualTo(23);
        assertThat(writeThrough(key, 128)).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void shouldServeOnlyTheQueuePairThatBoundIt()
    {
        prepare();
        final QueuePair from = own(a.domain.createQueuePair(a.options(QueuePairType.RC)));
        final QueuePair to = own(b.domain.createQueuePair(b.options(QueuePairType.RC)));
        connectBySteps(from, to, new QueuePairSteps());
        final int key = bind(0, 4096, READ_WRITE);
        from.begin();
        from.write(1, SIGNALED, a.address(0), 8, a.key(), region.address(), key);
        from.complete();
        assertThat(awaitOne(a).status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(RegionMemory.getLong(region, 0)).isZero();
        assertThat(readThrough(key, region.address())).isZero();
    }

    // Keys.

    @Test
    void shouldKeepUpperBitsOfKeyAndChangeTheLowerEight()
    {
        prepare();
        final int first = bind(0, 64, READ_WRITE);
        final int next = window.nextRemoteKey();
        assertThat(next).isNotEqualTo(first);
        assertThat(next >>> 8).isEqualTo(first >>> 8);
    }

    @Test
    void shouldRefuseOldKeyAfterBindingAnew()
    {
        prepare();
        final int first = bind(0, 64, READ_WRITE);
        invalidate(first);
        final int second = bind(0, 64, READ_WRITE);
        assertThat(second).isNotEqualTo(first);
        assertThat(readThrough(second, region.address())).isZero();
        assertThat(readThrough(first, region.address())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void shouldRefuseKeyOfWindowThatIsNotBound()
    {
        prepare();
        assertThat(readThrough(window.nextRemoteKey(), region.address()))
            .isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    // What cannot be bound.

    private void assertBindFails(final long offset, final long lengthBytes, final int flags)
    {
        post(b, bindRequest(offset, lengthBytes, flags));
        assertThat(awaitOne(b).status()).isEqualTo(WorkCompletionStatus.MW_BIND_ERR);
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void shouldFailToBindToRegionWithoutThatRight()
    {
        prepare(AccessFlags.LOCAL_WRITE);
        assertBindFails(0, 64, READ_WRITE);
    }

    @Test
    void shouldFailToBindWriteRightToRegionWithoutLocalWrite()
    {
        prepare(AccessFlags.MW_BIND);
        assertBindFails(0, 64, AccessFlags.REMOTE_WRITE);
    }

    @Test
    void shouldFailToBindBeforeRegion()
    {
        prepare();
        assertBindFails(-8, 64, READ_WRITE);
    }

    @Test
    void shouldFailToBindBehindRegion()
    {
        prepare();
        assertBindFails(4096 - 56, 64, READ_WRITE);
    }

    @Test
    void shouldFailToBindRegionOfOtherDomain()
    {
        prepare();
        final var other = own(b.device.allocateProtectionDomain());
        region = own(other.allocateRegistered(4096, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND));
        b.queuePair.begin();
        try
        {
            bindRequest(0, 64, READ_WRITE).run();
        }
        catch (final RdmaException ex)
        {
            // Refused before it was posted, which is as good.
            b.queuePair.abort();
            return;
        }
        assertThat(b.queuePair.complete()).isZero();
        assertThat(awaitOne(b).status()).isEqualTo(WorkCompletionStatus.MW_BIND_ERR);
    }

    // Taking back.

    @Test
    void shouldRefuseAccessAfterLocalInvalidation()
    {
        prepare();
        final int key = bind(0, 64, READ_WRITE);
        assertThat(readThrough(key, region.address())).isZero();
        invalidate(key);
        assertThat(writeThrough(key, region.address())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(RegionMemory.getLong(region, 0)).isZero();
    }

    @Test
    void shouldFailToInvalidateTwice()
    {
        prepare();
        final int key = bind(0, 64, READ_WRITE);
        invalidate(key);
        post(b, () -> b.queuePair.localInvalidate(52, 0, key));
        assertThat(awaitOne(b)).extracting(Completion::wrId, Completion::status).containsExactly(
            52L, WorkCompletionStatus.LOC_QP_OP_ERR);
    }

    @Test
    void shouldRefuseAccessAfterInvalidationByPeer()
    {
        prepare();
        final int key = bind(0, 64, READ_WRITE);
        receive(7, 512, 8);
        post(a, () -> a.queuePair.sendWithInvalidate(2, SIGNALED, a.address(0), 8, a.key(), key));
        assertThat(awaitOne(a).status()).isZero();
        final WorkCompletions batch = new WorkCompletions(1);
        await(() -> b.completions.poll(batch) == 1);
        assertThat(batch.wrId(0)).isEqualTo(7);
        assertThat(batch.status(0)).isZero();
        assertThat(batch.flags(0) & WorkCompletions.WITH_INVALIDATION).isNotZero();
        assertThat(batch.invalidatedKey(0)).isEqualTo(key);
        assertThat(readThrough(key, region.address())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void shouldFailWhenPeerInvalidatesKeyThatIsNoWindow()
    {
        prepare();
        receive(7, 512, 8);
        post(a, () -> a.queuePair.sendWithInvalidate(2, SIGNALED, a.address(0), 8, a.key(), window.nextRemoteKey()));
        awaitState(b.queuePair, QueuePairState.ERR);
        assertThat(awaitOne(b).status()).isNotZero();
    }

    @Test
    void shouldRefuseAccessAfterWindowWasClosed()
    {
        prepare();
        final int key = bind(0, 64, READ_WRITE);
        window.close();
        disown(window);
        assertThat(writeThrough(key, region.address())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(RegionMemory.getLong(region, 0)).isZero();
    }

    @Test
    void shouldRefuseToCloseRegionWithBoundWindow()
    {
        prepare();
        final int key = bind(0, 64, READ_WRITE);
        assertThatThrownBy(() -> region.close())
            .isInstanceOf(RdmaException.class).isNotInstanceOf(UnsupportedVerbException.class);
        assertThat(readThrough(key, region.address())).isZero();
        invalidate(key);
        region.close();
    }

    // Order.

    @Test
    void shouldBindBeforeLaterSendOfSameQueuePair()
    {
        prepare();
        for (int round = 0; round < 10; round++)
        {
            final int key = window.nextRemoteKey();
            assertThat(a.queuePair.postReceive(3, a.address(512), 8, a.key())).isZero();
            post(b, bindRequest(0, 64, READ_WRITE),
                () -> b.queuePair.send(4, SIGNALED, b.address(0), 8, b.key()));
            assertThat(awaitOne(a).wrId()).isEqualTo(3);
            assertThat(readThrough(key, region.address())).isZero();
            assertThat(await(b, 2)).extracting(Completion::status).containsOnly(WorkCompletionStatus.SUCCESS);
            invalidate(key);
        }
    }

    @Test
    void shouldBindOnUnreliableConnection()
    {
        final MemoryWindow ofUnreliable = own(b.domain.allocateMemoryWindow());
        a.use(a.options(QueuePairType.UC));
        b.use(b.options(QueuePairType.UC));
        connectBySteps(new QueuePairSteps());
        region = own(b.domain.allocateRegistered(4096, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND));
        window = ofUnreliable;
        final int key = bind(0, 64, READ_WRITE);
        a.putLong(0, 12);
        assertThat(writeThrough(key, region.address())).isZero();
        await(() -> RegionMemory.getLong(region, 0) == 12);
        assertThat(RegionMemory.getLong(region, 0)).isEqualTo(12);
        invalidate(key);
        a.putLong(0, 13);
        assertThat(writeThrough(key, region.address())).isZero();
        settle();
        assertThat(RegionMemory.getLong(region, 0)).isEqualTo(12);
    }

    @Test
    void shouldTakeWindowBackBySendOfUnreliablePeer()
    {
        final MemoryWindow ofUnreliable = own(b.domain.allocateMemoryWindow());
        a.use(a.options(QueuePairType.UC));
        b.use(b.options(QueuePairType.UC));
        connectBySteps(new QueuePairSteps());
        region = own(b.domain.allocateRegistered(4096, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND));
        window = ofUnreliable;
        final int key = bind(0, 64, READ_WRITE);
        receive(7, 512, 8);
        post(a, () -> a.queuePair.sendWithInvalidate(2, SIGNALED, a.address(0), 8, a.key(), key));
        assertThat(awaitOne(a).status()).isZero();
        final WorkCompletions batch = new WorkCompletions(1);
        await(() -> b.completions.poll(batch) == 1);
        assertThat(batch.status(0)).isZero();
        assertThat(batch.flags(0) & WorkCompletions.WITH_INVALIDATION).isNotZero();
        a.putLong(0, 9);
        assertThat(writeThrough(key, region.address())).isZero();
        settle();
        assertThat(RegionMemory.getLong(region, 0)).isZero();
    }
}
