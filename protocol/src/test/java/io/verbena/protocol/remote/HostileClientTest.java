package io.verbena.protocol.remote;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.RequestLimits;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.raas.VirtualQp;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** A client that sends what it must not: it is refused with a reason, and the node does not notice. */
class HostileClientTest
{
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    @TempDir
    Path directory;
    private RemoteRig rig;
    private VirtualQp vqp;
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[4096]);

    @BeforeEach
    void open()
    {
        rig = new RemoteRig(directory).connected();
        vqp = rig.client.connect(
            new PeerAddress(rig.serverDevice.address(), RemoteRig.PORT, 3, 9), (on, cookie, status) -> {}, 1_000_000);
    }

    @AfterEach
    void close()
    {
        vqp.close();
        rig.close();
    }

    private String send(final int method, final int lengthBytes)
    {
        final List<String> ended = new ArrayList<>();
        rig.client.rpcClient().call(vqp, method, message, 0, lengthBytes, RemoteRig.TIMEOUT_NS,
            (callId, status, payload, offset, length) ->
                ended.add(RpcStatus.OK == status ? "OK" : payload.getStringWithoutLengthUtf8(offset, length)));
        rig.runUntil(() -> !ended.isEmpty());
        return ended.getFirst();
    }

    private int operation(final byte[] key, final byte[] value)
    {
        final RemoteRig.Operation request = RemoteRig.operation(RequestKind.PUT, key, value, 0, 0);
        final byte[] name = "t".getBytes(StandardCharsets.UTF_8);
        final int head = OperationMessageDescriptor.encodeHead(request, name, 1_000_000_000L, 0, message, 0);
        return OperationMessageDescriptor.encodeBody(request, head, message, 0);
    }

    @Test
    void shouldRefuseOperationsThatNoRequestMayAsk()
    {
        final int length = operation(new byte[10], new byte[10]);
        assertThat(send(RequestMethod.OPERATION, length)).isEqualTo("OK");
        assertThat(send(RequestMethod.OPERATION, length - 1)).contains("operation of 76 bytes, needs 77");
        assertThat(send(RequestMethod.OPERATION, 10)).contains("operation of 10 bytes");
        assertThat(send(999, length)).contains("does not know method 999");
        final int[][] damages = {
            {OperationMessageDescriptor.KEY_LENGTH_OFFSET, 0}, {OperationMessageDescriptor.KEY_LENGTH_OFFSET, -1},
            {OperationMessageDescriptor.KEY_LENGTH_OFFSET, RequestLimits.MAX_KEY_BYTES + 1},
            {OperationMessageDescriptor.VALUE_LENGTH_OFFSET, -1},
            {OperationMessageDescriptor.VALUE_LENGTH_OFFSET, RequestLimits.MAX_VALUE_BYTES + 1},
            {OperationMessageDescriptor.NAME_LENGTH_OFFSET, 0}, {OperationMessageDescriptor.NAME_LENGTH_OFFSET, 129},
            {OperationMessageDescriptor.NAME_LENGTH_OFFSET + 4, 1}};
        for (final int[] damage : damages)
        {
            operation(new byte[10], new byte[10]);
            message.putInt(damage[0], damage[1], ORDER);
            assertThat(send(RequestMethod.OPERATION, length)).contains("compute node refused a message: ");
        }
        operation(new byte[10], new byte[10]);
        message.putShort(OperationMessageDescriptor.KIND_OFFSET, (short)99, ORDER);
        assertThat(send(RequestMethod.OPERATION, length)).contains("kind of operation has code 99");
        operation(new byte[10], new byte[10]);
        message.putShort(OperationMessageDescriptor.VERSION_OFFSET, (short)1, ORDER);
        assertThat(send(RequestMethod.OPERATION, length)).contains("version of the message=1 must be 2 to 2");
        assertThat(rig.node.records).hasSize(1);
    }

    @Test
    void shouldRefusePartsThatDoNotFit()
    {
        TransferDescriptor.encode(5, 100, 0, 60, message, 0);
        assertThat(send(RequestMethod.PART, TransferDescriptor.BYTES_OFFSET + 60)).isEqualTo("OK");
        assertThat(send(RequestMethod.PART, TransferDescriptor.BYTES_OFFSET + 60)).contains("60 bytes of it are here");
        TransferDescriptor.encode(5, 90, 60, 30, message, 0);
        assertThat(send(RequestMethod.PART, TransferDescriptor.BYTES_OFFSET + 30)).contains("has length 100");
        TransferDescriptor.encode(6, 100, 50, 51, message, 0);
        assertThat(send(RequestMethod.PART, TransferDescriptor.BYTES_OFFSET + 51)).contains("length of part=51");
        TransferDescriptor.encode(6, Integer.MAX_VALUE, 0, 1, message, 0);
        assertThat(send(RequestMethod.PART, TransferDescriptor.BYTES_OFFSET + 1)).contains("length=2147483647");
        TransferDescriptor.encode(77, 100, 0, 50, message, 0);
        assertThat(send(RequestMethod.FETCH, TransferDescriptor.BYTES_OFFSET)).contains("not kept any more");
        final int length = operation(new byte[90], new byte[10]);
        message.putLong(OperationMessageDescriptor.TRANSFER_ID_OFFSET, 5, ORDER);
        assertThat(send(RequestMethod.OPERATION, length)).contains("not all here");
    }

    @Test
    void shouldRefuseRequestsAboutTablesThatCannotBe()
    {
        final int length = ControlMessageDescriptor.encode(
            ControlRequest.Kind.FIND_TABLE, "t".repeat(129), 0, 1, 1_000_000, message, 0);
        assertThat(send(RequestMethod.CONTROL, length)).contains("table name length=129");
        assertThat(send(RequestMethod.CONTROL, 3)).contains("request about tables of 3 bytes");
        ControlMessageDescriptor.encode(ControlRequest.Kind.CREATE_TABLE, "t", 9, 4, 1_000_000, message, 0);
        assertThat(send(RequestMethod.CONTROL, ControlMessageDescriptor.NAME_OFFSET + 1)).contains("copies=4");
        ControlMessageDescriptor.encode(ControlRequest.Kind.DROP_TABLE, "t", 0, 2, 1_000_000, message, 0);
        assertThat(send(RequestMethod.CONTROL, ControlMessageDescriptor.NAME_OFFSET + 1))
            .as("only a table that is made has copies").contains("copies=2");
        ControlMessageDescriptor.encode(ControlRequest.Kind.CREATE_TABLE, "t", 9, 2, 1_000_000, message, 0);
        message.putByte(ControlMessageDescriptor.RESERVED_OFFSET, (byte)1);
        assertThat(send(RequestMethod.CONTROL, ControlMessageDescriptor.NAME_OFFSET + 1)).contains("reserved byte=1");
        ControlMessageDescriptor.encode(ControlRequest.Kind.VERB_COUNTERS, "", 0, 1, 1_000_000, message, 0);
        assertThat(send(RequestMethod.CONTROL, ControlMessageDescriptor.NAME_OFFSET)).contains("own process only");
    }

    @Test
    void shouldLiveThroughRandomBytes()
    {
        final Random random = new Random(1);
        for (int i = 0; i < 3_000; i++)
        {
            final byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            message.setMemory(0, 16, (byte)0);
            message.putBytes(0, bytes);
            message.putShort(0, (short)1, ORDER);
            message.putShort(2, (short)random.nextInt(9), ORDER);
            send(RequestMethod.OPERATION + random.nextInt(4), bytes.length);
        }
        assertThat(rig.run(RequestKind.PUT, new byte[]{1}, new byte[]{2}).version()).isPositive();
        assertThat(rig.errors).isEmpty();
    }

    @Test
    void shouldForgetTransfersThatNobodyGoesOnWith()
    {
        final TransferStore store = store(1_000);
        part(store, 1, 1, 600, 0, 100, 0);
        final long kept = store.keep(2, new byte[400], 0);
        assertThat(kept).isNotZero();
        assertThat(store.usedBytes()).isEqualTo(
            500 + 2 * TransferStore.TRANSFER_BYTES + TransferStore.PART_BYTES);
        assertThat(store.take(1, 1, 600)).as("not complete").isNull();
        part(store, 1, 1, 600, 100, 100, TransferStore.MAX_AGE_NS / 2);
        store.expire(TransferStore.MAX_AGE_NS + 1);
        assertThat(store.usedBytes()).as("only the one gone on with")
            .isEqualTo(200 + TransferStore.TRANSFER_BYTES + 2 * TransferStore.PART_BYTES);
        store.expire(3 * TransferStore.MAX_AGE_NS);
        assertThat(store.usedBytes()).isZero();
        assertThat(store.fetch(2, kept, 400, 10)).isNull();
    }

    /** What a client claims takes nothing; what it sends counts, however short, and only so much of it is kept. */
    @Test
    void shouldKeepOfOneClientOnlyItsShareAndNothingForWhatItClaims()
    {
        final int shareBytes = 100_000;
        final TransferStore store = store(shareBytes);
        int accepted = 0;
        for (int id = 1; id <= 10_000; id++)
        {
            accepted += isTaken(store, 1, id) ? 1 : 0;
        }
        assertThat(accepted).isEqualTo(shareBytes / (TransferStore.TRANSFER_BYTES + TransferStore.PART_BYTES + 1));
        assertThat(store.usedBytes()).isLessThanOrEqualTo(shareBytes);
        assertThat(store.keep(1, new byte[1_000], 0)).as("no room for it").isZero();
        assertThat(store.keep(2, new byte[1_000], 0)).as("others have theirs").isNotZero();
        assertThat(isTaken(store, 2, 1)).isTrue();
        for (int other = 3; other < 100; other++)
        {
            for (int id = 1; id <= 1_000; id++)
            {
                isTaken(store, other, id);
            }
        }
        assertThat(store.usedBytes()).isLessThanOrEqualTo((long)TransferStore.CONNECTIONS * shareBytes);
    }

    private static boolean isTaken(final TransferStore store, final long connection, final long id)
    {
        try
        {
            part(store, connection, id, 80_000, 0, 1, 0);
            return true;
        }
        catch (final MalformedRequestException ex)
        {
            assertThat(ex).hasMessageContaining("no room for a transfer of 80000 bytes");
            return false;
        }
    }

    /** Nobody reads, ends, or adds to what is another connection's. */
    @Test
    void shouldBindTransfersToTheirConnections()
    {
        final TransferStore store = store(2_000);
        part(store, 1, 5, 20, 10, 10, 0);
        part(store, 2, 5, 20, 0, 10, 0);
        assertThat(store.take(2, 5, 20)).as("its other half came by another connection").isNull();
        part(store, 1, 5, 20, 0, 10, 0);
        assertThat(store.take(2, 5, 20)).isNull();
        assertThat(store.take(1, 5, 20)).isEqualTo("0123456789".repeat(2).getBytes(StandardCharsets.UTF_8));
        final long first = store.keep(1, new byte[400], 0);
        final long next = store.keep(1, new byte[400], 0);
        assertThat(Math.abs(next - first)).as("cannot be guessed").isGreaterThan(1_000);
        assertThat(store.fetch(2, first, 400, 400)).isNull();
        assertThat(store.fetch(1, first, 400, 400)).hasSize(400);
        assertThat(store.fetch(1, first, 400, 400)).as("read").isNull();
    }

    private static TransferStore store(final int shareBytes)
    {
        return new TransferStore((long)TransferStore.CONNECTIONS * shareBytes, new Random(1));
    }

    private static void part(
        final TransferStore store, final long connection, final long id, final int totalLength, final int partOffset,
        final int partLength, final long nowNs)
    {
        final byte[] bytes = "0123456789".repeat(10).getBytes(StandardCharsets.UTF_8);
        store.part(connection, id, totalLength, partOffset, new UnsafeBuffer(bytes), 0, partLength, nowNs);
    }

    /** Others would wait behind all of them. */
    @Test
    void shouldTakeOnlySoManyScansOfOneClient()
    {
        takeOnlySoManyScans();
        takeOnlySoManyScans(); // when they are over, as many as before
    }

    private void takeOnlySoManyScans()
    {
        rig.node.isHolding = true;
        final List<RemoteRig.Operation> scans = new ArrayList<>();
        for (int i = 0; i <= RequestServer.MAX_SCANS; i++)
        {
            scans.add(rig.submit(RequestKind.SCAN, new byte[]{1}, null));
        }
        final RemoteRig.Operation last = scans.removeLast();
        rig.runUntil(() -> last.doneCount > 0);
        assertThat(last.answer()).isEqualTo(OperationAnswer.NOT_SERVING);
        assertThat(last.detail()).contains("client has 4 scans under way");
        assertThat(scans.getFirst().doneCount).isZero();
        rig.node.isHolding = false;
        rig.runUntil(() -> scans.stream().allMatch((scan) -> scan.doneCount > 0));
        assertThat(scans).noneMatch((scan) -> OperationAnswer.NOT_SERVING == scan.answer());
    }
}
