package io.verbena.meta.store;

import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserQuota;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.test.MessageFuzzer;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.List;

/**
 * What a meta server makes of records on its disk, and of commands of its group, that somebody has changed, also with
 * the right checksum.
 */
class MetaRecordsFuzzTest
{
    /** Reads a record of one kind. */
    private interface RecordDecoder
    {
        void decode(byte[] record);
    }

    private final MessageFuzzer fuzzer = new MessageFuzzer(20, MetaStoreException.class);

    private void fuzz(final String key, final byte[] record, final RecordDecoder decoder)
    {
        fuzzer.fuzz(key, record, (message, offset, lengthBytes) ->
        {
            final byte[] copy = bytes(message, lengthBytes);
            if (lengthBytes >= MetaRecordDescriptor.HEADER_LENGTH)
            {
                final ByteBuffer changed = ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN);
                changed.putInt(MetaRecordDescriptor.PAYLOAD_LENGTH_OFFSET,
                    lengthBytes - MetaRecordDescriptor.HEADER_LENGTH);
                changed.putLong(
                    MetaRecordDescriptor.CHECKSUM_OFFSET, MetaRecordDescriptor.checksum(key, changed));
            }
            decoder.decode(copy);
        });
    }

    private static byte[] bytes(final DirectBuffer message, final int lengthBytes)
    {
        final byte[] bytes = new byte[lengthBytes];
        message.getBytes(0, bytes);
        return bytes;
    }

    @Test
    void shouldReadOrRefuseRecords()
    {
        fuzz("counters", MetaRecordDescriptor.encode(new MetaCounters(7, 11, 12, 13, 4097, 15, 16)),
            (bytes) -> MetaRecordDescriptor.decodeCounters("x", bytes));
        fuzz("secret", MetaRecordDescriptor.encode(
            StoredSecrets.first(IdentitySecret.random(new SecureRandom()), 5).next(new SecureRandom(), 6)),
            (bytes) -> MetaRecordDescriptor.decodeSecret("x", bytes));
        fuzz("node/00007", MetaRecordDescriptor.encode(StoredNode.spare(7, 8, 9)),
            (bytes) -> MetaRecordDescriptor.decodeNode("x", "node/00007", bytes));
        fuzz("table/t", MetaRecordDescriptor.encode(new StoredTable("t", 3, new byte[]{1, 2, 3})),
            (bytes) -> MetaRecordDescriptor.decodeTable("x", "table/t", bytes));
    }

    @Test
    void shouldReadOrRefuseRevokedCertificates()
    {
        final RevokedCertificate revoked = new RevokedCertificate(new byte[32], "CN=compute-1");
        final String key = MetaRecordDescriptor.revokedKey(revoked);
        fuzz(key, MetaRecordDescriptor.encode(revoked), (bytes) -> MetaRecordDescriptor.decodeRevoked("x", key, bytes));
    }

    @Test
    void shouldReadOrRefuseRecordsOfUsers()
    {
        final User ann = new User("ann", 1, 2, 3, SecretVerifier.ofNobody(new byte[32], "ann"),
            List.of(new Grant("orders", 3, new byte[]{1})), new UserQuota(5, 6, 7, 8, 9));
        fuzz("user/ann", MetaRecordDescriptor.encode(ann),
            (bytes) -> MetaRecordDescriptor.decodeUser("x", "user/ann", bytes));
    }

    @Test
    void shouldReadOrRefuseViews()
    {
        final String key = ViewRecordDescriptor.key(7);
        final View view = View.first(7, List.of(new PeerIdentity(1, 2), new PeerIdentity(3, 4)))
            .closing(1, new PeerIdentity(5, 6));
        final View entering = View.first(7, view.members()).filling(new PeerIdentity(7, 8), new PeerIdentity(5, 6));
        fuzz(key, ViewRecordDescriptor.encode(entering), (bytes) -> ViewRecordDescriptor.decode("x", key, bytes));
        fuzz(key, ViewRecordDescriptor.encode(view), (bytes) -> ViewRecordDescriptor.decode("x", key, bytes));
    }

    @Test
    void shouldReadOrRefuseCommands()
    {
        final MetaBatch batch = new MetaBatch().counters(new MetaCounters(7, 11, 12, 13, 4097, 15, 16))
            .table(new StoredTable("t", 3, new byte[]{1, 2, 3})).removeTable("gone").removeNode(5);
        fuzzer.fuzz("command", MetaCommandDescriptor.encode(MetaCommand.write(42, batch)),
            (message, offset, lengthBytes) ->
            {
                final byte[] copy = bytes(message, lengthBytes);
                if (lengthBytes >= MetaCommandDescriptor.HEAD_LENGTH)
                {
                    final ByteBuffer changed = ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN);
                    changed.putLong(MetaCommandDescriptor.CHECKSUM_OFFSET, MetaCommandDescriptor.checksum(changed));
                }
                MetaCommandDescriptor.decode("x", copy);
            });
    }
}
