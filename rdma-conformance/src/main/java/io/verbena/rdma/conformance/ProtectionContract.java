package io.verbena.rdma.conformance;

import io.verbena.rdma.conformance.remote.RegionMemory;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionAttempt.State;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Each check, the exact status it gives on both sides, and that nothing was touched. */
public abstract class ProtectionContract extends VerbsHarness
{
    private void assertFailed(final Runnable request, final int status, final QueuePairState responderState)
    {
        b.fill(0x5A);
        receive(90, 0, 8);
        assertThat(post(a, write(1, 0, 0, 8, 2048), request, write(3, 0, 0, 8, 4096), read(4, SIGNALED, 0, 8, 0)))
            .isEqualTo(PostStatus.OK);
        assertThat(await(a, 3)).extracting(Completion::status).containsExactly(
            status, WorkCompletionStatus.WR_FLUSH_ERR, WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.ERR);
        settle();
        assertThat(b.queuePair.state()).isEqualTo(responderState);
        assertThat(b.getLong(2048)).as("earlier request").isEqualTo(a.getLong(0));
        b.putLong(2048, 0x5A5A_5A5A_5A5A_5A5AL);
        assertThat(b.bytes(0, Endpoint.REGION_BYTES)).containsOnly(0x5A);
        if (responderState == QueuePairState.ERR)
        {
            assertThat(awaitOne(b).status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        }
    }

    @Test
    void shouldFailAsInvalidRequestWhenQueuePairLacksReadRight()
    {
        connect(a, b, AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC);
        assertFailed(read(2, 0, 0, 8, 0), WorkCompletionStatus.REM_INV_REQ_ERR, QueuePairState.ERR);
    }

    @Test
    void shouldFailAsInvalidRequestWhenQueuePairLacksAtomicRight()
    {
        connect(a, b, AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ);
        assertFailed(compareSwap(2, 0, 0, 0, 0, 1), WorkCompletionStatus.REM_INV_REQ_ERR, QueuePairState.ERR);
    }

    @Test
    void shouldFailAsInvalidRequestWhenQueuePairLacksWriteRight()
    {
        connect(a, b, AccessFlags.REMOTE_READ);
        assertThat(execute(write(2, 0, 0, 8, 0)).status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        assertThat(b.getLong(0)).isZero();
        settle();
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void shouldFailAsInvalidRequestWhenConnectingSideGaveFewerRights()
    {
        try (ConnectionListener listener = b.device.listen(PORT))
        {
            final ConnectionAttempt attempt = a.device.connect(
                a.queuePair, b.device.address(), PORT, AccessFlags.REMOTE_READ, NOTHING, rig.connectTimeoutNs());
            awaitRequest(listener).accept(b.queuePair, AccessFlags.ALL_REMOTE, NOTHING);
            assertThat(await(attempt)).isEqualTo(State.ESTABLISHED);
        }
        b.queuePair.begin();
        b.queuePair.read(1, SIGNALED, b.address(0), 8, b.key(), a.address(0), a.region.remoteKey());
        b.queuePair.write(2, SIGNALED, b.address(0), 8, b.key(), a.address(0), a.region.remoteKey());
        b.queuePair.complete();
        assertThat(await(b, 2)).extracting(Completion::status)
            .containsExactly(WorkCompletionStatus.SUCCESS, WorkCompletionStatus.REM_INV_REQ_ERR);
    }

    @Test
    void shouldFailAsAccessErrorWhenRemoteKeyIsUnknown()
    {
        connect();
        assertFailed(
            () -> a.queuePair.write(2, 0, a.address(0), 8, a.key(), b.address(0), b.region.remoteKey() + 1),
            WorkCompletionStatus.REM_ACCESS_ERR, QueuePairState.ERR);
    }

    @Test
    void shouldFailAsAccessErrorWhenRemoteKeyIsZero()
    {
        connect();
        assertFailed(
            () -> a.queuePair.read(2, 0, a.address(0), 8, a.key(), b.address(0), 0),
            WorkCompletionStatus.REM_ACCESS_ERR, QueuePairState.ERR);
    }

    @Test
    void shouldFailAsAccessErrorWhenAccessBeginsBeforeRegion()
    {
        connect();
        assertFailed(write(2, 0, 0, 8, -4), WorkCompletionStatus.REM_ACCESS_ERR, QueuePairState.ERR);
    }

    @Test
    void shouldWriteNothingWhenAccessEndsBehindRegion()
    {
        connect();
        assertFailed(
            write(2, 0, 0, 512, Endpoint.REGION_BYTES - 511), WorkCompletionStatus.REM_ACCESS_ERR, QueuePairState.ERR);
    }

    @Test
    void shouldFailAsAccessErrorWhenAddressIsFarOff()
    {
        connect();
        assertFailed(
            () -> a.queuePair.read(2, 0, a.address(0), 8, a.key(), Long.MAX_VALUE - 2, b.region.remoteKey()),
            WorkCompletionStatus.REM_ACCESS_ERR, QueuePairState.ERR);
    }

    @Test
    void shouldFailAsAccessErrorWhenAddressIsNegative()
    {
        connect();
        assertFailed(
            () -> a.queuePair.read(2, 0, a.address(0), 8, a.key(), Long.MIN_VALUE, b.region.remoteKey()),
            WorkCompletionStatus.REM_ACCESS_ERR, QueuePairState.ERR);
    }

    @Test
    void shouldFailAsAccessErrorWhenRegionIsOfOtherDomain()
    {
        connect();
        final ProtectionDomain other = own(b.device.allocateProtectionDomain());
        final MemoryRegion region = own(other.allocateRegistered(4096, AccessFlags.ALL_REMOTE));
        assertFailed(
            () -> a.queuePair.write(2, 0, a.address(0), 8, a.key(), region.address(), region.remoteKey()),
            WorkCompletionStatus.REM_ACCESS_ERR, QueuePairState.ERR);
        assertThat(RegionMemory.getLong(region, 0)).isZero();
    }

    @Test
    void shouldFailAsAccessErrorWhenRegionLacksRight()
    {
        connect();
        final MemoryRegion region = own(b.domain.allocateRegistered(
            4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ));
        assertFailed(
            () -> a.queuePair.fetchAdd(2, 0, a.address(0), a.key(), region.address(), region.remoteKey(), 1),
            WorkCompletionStatus.REM_ACCESS_ERR, QueuePairState.ERR);
        assertThat(RegionMemory.getLong(region, 0)).isZero();
    }

    @Test
    void shouldFailAsAccessErrorWhenRegionIsReadOnly()
    {
        connect();
        final MemoryRegion region = own(b.domain.allocateRegistered(4096, AccessFlags.REMOTE_READ));
        assertThat(execute(() -> a.queuePair.read(
            2, SIGNALED, a.address(0), 8, a.key(), region.address(), region.remoteKey())).status()).isZero();
        assertFailed(
            () -> a.queuePair.write(2, 0, a.address(0), 8, a.key(), region.address(), region.remoteKey()),
            WorkCompletionStatus.REM_ACCESS_ERR, QueuePairState.ERR);
    }

    @Test
    void shouldFailAsAccessErrorWhenRegionWasClosed()
    {
        connect();
        final MemoryRegion region = b.domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE);
        final long address = region.address();
        final int key = region.remoteKey();
        region.close();
        final MemoryRegion successor = own(b.domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE));
        assertThat(successor.remoteKey()).isNotEqualTo(key);
        assertFailed(
            () -> a.queuePair.write(2, 0, a.address(0), 8, a.key(), address, key),
            WorkCompletionStatus.REM_ACCESS_ERR, QueuePairState.ERR);
    }

    @Test
    void shouldFailAsInvalidRequestWhenAtomicIsNotAligned()
    {
        connect();
        assertFailed(compareSwap(2, 0, 0, 4, 0, 1), WorkCompletionStatus.REM_INV_REQ_ERR, QueuePairState.ERR);
    }

    @Test
    void shouldFailBothSidesWhenSendIsLongerThanReceive()
    {
        connect();
        receive(5, 0, 8);
        post(a, send(1, 0, 0, 9), send(2, 0, 0, 8));
        assertThat(await(a, 2)).extracting(Completion::status)
            .containsExactly(WorkCompletionStatus.REM_INV_REQ_ERR, WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(awaitOne(b)).extracting(Completion::wrId, Completion::status)
            .containsExactly(5L, WorkCompletionStatus.LOC_LEN_ERR);
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(b.getLong(0)).isZero();
    }

    @Test
    void shouldFailAsOperationErrorWhenReceiveBufferIsNotRegistered()
    {
        connect();
        b.queuePair.postReceive(5, b.address(0), 64, b.key() + 1);
        assertThat(execute(send(1, 0, 0, 8)).status()).isEqualTo(WorkCompletionStatus.REM_OP_ERR);
        assertThat(awaitOne(b).status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void shouldFailAsOperationErrorWhenReceiveBufferIsNotWritable()
    {
        connect();
        final MemoryRegion region = own(b.domain.allocateRegistered(4096, 0));
        b.queuePair.postReceive(5, region.address(), 64, region.localKey());
        assertThat(execute(send(1, 0, 0, 8)).status()).isEqualTo(WorkCompletionStatus.REM_OP_ERR);
        assertThat(awaitOne(b).status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
    }

    @Test
    void shouldFailLocallyWhenLocalKeyIsUnknown()
    {
        connect();
        assertFailed(
            () -> a.queuePair.write(2, 0, a.address(0), 8, a.key() + 1, b.address(0), b.region.remoteKey()),
            WorkCompletionStatus.LOC_PROT_ERR, QueuePairState.RTS);
    }

    @Test
    void shouldFailLocallyWhenLocalBytesAreOutOfBounds()
    {
        connect();
        assertFailed(
            read(2, 0, Endpoint.REGION_BYTES - 4, 8, 0), WorkCompletionStatus.LOC_PROT_ERR, QueuePairState.RTS);
    }

    @Test
    void shouldFailLocallyWhenLocalRegionIsOfOtherDomain()
    {
        connect();
        final ProtectionDomain other = own(a.device.allocateProtectionDomain());
        final MemoryRegion region = own(other.allocateRegistered(4096, AccessFlags.ALL_REMOTE));
        assertFailed(
            () -> a.queuePair.write(2, 0, region.address(), 8, region.localKey(), b.address(0), b.region.remoteKey()),
            WorkCompletionStatus.LOC_PROT_ERR, QueuePairState.RTS);
    }

    @Test
    void shouldFailLocallyWhenReadTargetIsNotWritable()
    {
        connect();
        final MemoryRegion region = own(a.domain.allocateRegistered(4096, 0));
        assertFailed(
            () -> a.queuePair.read(2, 0, region.address(), 8, region.localKey(), b.address(0), b.region.remoteKey()),
            WorkCompletionStatus.LOC_PROT_ERR, QueuePairState.RTS);
    }

    @Test
    void shouldFailLocallyAndChangeNothingWhenAtomicResultIsNotWritable()
    {
        connect();
        final MemoryRegion region = own(a.domain.allocateRegistered(4096, 0));
        assertFailed(
            () -> a.queuePair.fetchAdd(
                2, 0, region.address(), region.localKey(), b.address(0), b.region.remoteKey(), 1),
            WorkCompletionStatus.LOC_PROT_ERR, QueuePairState.RTS);
    }

    @Test
    void shouldWriteFromRegionWithoutRights()
    {
        connect();
        final MemoryRegion region = own(a.domain.allocateRegistered(4096, 0));
        RegionMemory.putLong(region, 0, 11);
        assertThat(execute(() -> a.queuePair.write(
            2, SIGNALED, region.address(), 8, region.localKey(), b.address(0), b.region.remoteKey())).status())
            .isZero();
        assertThat(b.getLong(0)).isEqualTo(11);
    }

    @Test
    void shouldCheckNeitherKeysNorAddressesWhenLengthIsZero()
    {
        connect();
        post(a, () ->
        {
            a.queuePair.read(1, SIGNALED, 1, 0, 77, 3, 99);
            a.queuePair.write(2, SIGNALED, -1, 0, 0, -7, 0);
        });
        assertThat(await(a, 2)).extracting(Completion::status).containsOnly(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldRefuseRegionWithRemoteWriteButNoLocalWrite()
    {
        assertThatThrownBy(() -> a.domain.allocateRegistered(64, AccessFlags.REMOTE_WRITE))
            .isInstanceOf(RdmaException.class).hasMessageContaining("LOCAL_WRITE");
        assertThatThrownBy(() -> a.domain.allocateRegistered(64, AccessFlags.REMOTE_ATOMIC))
            .isInstanceOf(RdmaException.class).hasMessageContaining("LOCAL_WRITE");
        assertThatThrownBy(() -> a.domain.allocateRegistered(0, 0)).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> a.domain.allocateRegistered(64, 1 << 12)).isInstanceOf(RdmaException.class);
    }
}
