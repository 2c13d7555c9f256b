package io.verbena.raas.directory;

import io.verbena.raas.RemoteRegion;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.test.MessageFuzzer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteOrder;

import static org.assertj.core.api.Assertions.assertThat;

/** What readers of a directory make of records that somebody has changed, also with the right checksum. */
class DirectoryFuzzTest
{
    private static final class Refused extends RuntimeException
    {
        private static final long serialVersionUID = 1L;

        Refused(final String why)
        {
            super(why);
        }
    }

    private final MessageFuzzer fuzzer = new MessageFuzzer(20, Refused.class);

    private static void require(final boolean isRight, final String why)
    {
        if (!isRight)
        {
            throw new Refused(why);
        }
    }

    /** A copy, so that it can get the right checksum: what is behind the check is reached. */
    private static UnsafeBuffer copy(final DirectBuffer message, final int lengthBytes, final int atLeastBytes)
    {
        require(lengthBytes >= atLeastBytes, "too short");
        final UnsafeBuffer copy = new UnsafeBuffer(new byte[lengthBytes]);
        copy.putBytes(0, message, 0, lengthBytes);
        return copy;
    }

    @Test
    void shouldReadOrRefuseRecordsOfPeers()
    {
        final UnsafeBuffer whole = new UnsafeBuffer(new byte[PeerRecordDescriptor.RECORD_LENGTH_BYTES]);
        PeerRecordDescriptor.encode(new PeerRecord(3, 4, 5, NodeRole.MEMORY_NODE, new DeviceAddress(1, 2, 3), 6,
            new RemoteRegion(4_096, 8_192, 7)), whole, 0);
        fuzzer.fuzz("peer", whole.byteArray(), (message, offset, lengthBytes) ->
        {
            final UnsafeBuffer copy = copy(message, lengthBytes, PeerRecordDescriptor.RECORD_LENGTH_BYTES);
            PeerRecordDescriptor.isEmpty(copy, 0);
            PeerRecordDescriptor.isValid(copy, 0);
            copy.putLong(0, PeerRecordDescriptor.checksum(copy, 0), ByteOrder.LITTLE_ENDIAN);
            assertThat(PeerRecordDescriptor.isValid(copy, 0)).isTrue();
            final String problem = PeerRecordDescriptor.problem(copy, 0);
            require(problem.isEmpty(), problem);
            assertThat(PeerRecordDescriptor.decode(copy, 0).role()).isNotNull();
        });
    }

    @Test
    void shouldReadOrRefuseHeaders()
    {
        final UnsafeBuffer whole = new UnsafeBuffer(new byte[DirectoryHeaderDescriptor.LENGTH_BYTES]);
        DirectoryHeaderDescriptor.encode(5, 6, 7, 8, 9, 10, whole, 0);
        fuzzer.fuzz("header", whole.byteArray(), (message, offset, lengthBytes) ->
        {
            final UnsafeBuffer copy = copy(message, lengthBytes, DirectoryHeaderDescriptor.LENGTH_BYTES);
            copy.putLong(0, DirectoryHeaderDescriptor.checksum(copy, 0), ByteOrder.LITTLE_ENDIAN);
            require(DirectoryHeaderDescriptor.isValid(copy, 0), "no lengths");
            require(DirectoryHeaderDescriptor.VERSION == DirectoryHeaderDescriptor.version(copy, 0), "version");
            assertThat(DirectoryViewDescriptor.listOffset(DirectoryHeaderDescriptor.listed(copy, 0))).isPositive();
            assertThat(DirectoryHeaderDescriptor.namedBytes(copy, 0)).isNotNegative();
            DirectoryHeaderDescriptor.membershipVersion(copy, 0);
            DirectoryHeaderDescriptor.sum(copy, 0);
            DirectoryHeaderDescriptor.namedSum(copy, 0);
            DirectoryHeaderDescriptor.namedOutside(copy, 0);
        });
    }

    @Test
    void shouldReadOrRefuseNamedRecords()
    {
        final NamedRecord record = new NamedRecord(3, "orders", new byte[]{1, 2, 3, 4, 5, 6, 7, 8, 9});
        final UnsafeBuffer whole = new UnsafeBuffer(new byte[NamedRecordDescriptor.lengthBytes(record)]);
        NamedRecordDescriptor.encode(record, whole, 0);
        fuzzer.fuzz("named", whole.byteArray(), (message, offset, lengthBytes) ->
        {
            final UnsafeBuffer copy = copy(message, lengthBytes, NamedRecordDescriptor.NAME_OFFSET);
            NamedRecordDescriptor.isFree(copy, 0);
            final long used = NamedRecordDescriptor.NAME_OFFSET +
                (copy.getShort(NamedRecordDescriptor.NAME_LENGTH_OFFSET, ByteOrder.LITTLE_ENDIAN) & 0xFFFFL) +
                copy.getInt(NamedRecordDescriptor.CONTENT_LENGTH_OFFSET, ByteOrder.LITTLE_ENDIAN);
            if (used >= NamedRecordDescriptor.NAME_OFFSET && used <= lengthBytes)
            {
                copy.putLong(0, NamedRecordDescriptor.checksum(copy, 0), ByteOrder.LITTLE_ENDIAN);
            }
            require(NamedRecordDescriptor.isValid(copy, 0, lengthBytes), "not valid");
            final String problem = NamedRecordDescriptor.problem(copy, 0);
            require(problem.isEmpty(), problem);
            assertThat(NamedRecordDescriptor.decode(copy, 0).content().length).isLessThanOrEqualTo(lengthBytes);
            assertThat(NamedRecordDescriptor.lengthBytes(copy, 0)).isPositive();
        });
    }

    @Test
    void shouldReadOrRefuseWhatAViewSaysOfItself()
    {
        fuzzer.fuzz("view", DirectoryViewDescriptor.encodePrivateData(16, 5, 64, 8_192), (message, offset, length) ->
        {
            final byte[] bytes = copy(message, length, 0).byteArray();
            final String problem = DirectoryViewDescriptor.problem(bytes, 1L << 20);
            require(null == problem, problem);
            assertThat(DirectoryViewDescriptor.capacity(bytes)).isPositive();
            assertThat(DirectoryViewDescriptor.namedRoomBytes(bytes)).isNotNegative();
            DirectoryViewDescriptor.listed(bytes);
            DirectoryViewDescriptor.namedBytes(bytes);
        });
    }
}
