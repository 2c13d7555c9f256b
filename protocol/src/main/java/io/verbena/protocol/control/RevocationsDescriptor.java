package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.RevocationPage;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.tls.TlsSettings;
import io.verbena.raas.RpcClient;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Certificates that were revoked: a list, as requests for it and changes of it have one entry, or none.
 *
 * <pre>
 *   0 +---------------------------+
 *     |          header           |
 *   8 +-------------+-------------+
 *     |    count    |   has more  |
 *  12 +-------------+-------------+
 *     | { fingerprint 32, length 2, subject } ...
 * </pre>
 */
final class RevocationsDescriptor
{
    static final int COUNT_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int MORE_OFFSET = COUNT_OFFSET + Short.BYTES;
    static final int ENTRIES_OFFSET = MORE_OFFSET + Short.BYTES;
    private static final int ENTRY_HEAD_BYTES = TlsSettings.FINGERPRINT_BYTES + Short.BYTES;
    private static final String WHAT = "list of revoked certificates";

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private RevocationsDescriptor()
    {
    }

    /** Encodes as many as fit. */
    static int encode(final RevocationPage page, final MutableDirectBuffer buffer, final int offset)
    {
        int count = 0;
        int at = ENTRIES_OFFSET;
        for (final RevokedCertificate each : page.certificates())
        {
            if (null != each.problem())
            {
                throw new ControlException(ControlStatus.INVALID_REQUEST, each.problem());
            }
            final byte[] subject = each.subject().getBytes(StandardCharsets.UTF_8);
            if (at + ENTRY_HEAD_BYTES + subject.length > RpcClient.MAX_MESSAGE_BYTES)
            {
                break;
            }
            buffer.putBytes(offset + at, each.fingerprint());
            buffer.putShort(offset + at + TlsSettings.FINGERPRINT_BYTES, (short)subject.length, ORDER);
            buffer.putBytes(offset + at + ENTRY_HEAD_BYTES, subject);
            at += ENTRY_HEAD_BYTES + subject.length;
            count++;
        }
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putShort(offset + COUNT_OFFSET, (short)count, ORDER);
        buffer.putShort(
            offset + MORE_OFFSET, (short)(page.hasMore() || count < page.certificates().size() ? 1 : 0), ORDER);
        return at;
    }

    static RevocationPage decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, ENTRIES_OFFSET, WHAT);
        final int count = buffer.getShort(offset + COUNT_OFFSET, ORDER) & 0xFFFF;
        final List<RevokedCertificate> certificates = new ArrayList<>();
        int at = ENTRIES_OFFSET;
        for (int i = 0; i < count; i++)
        {
            ControlHeaderDescriptor.require(lengthBytes, at + ENTRY_HEAD_BYTES, WHAT);
            final byte[] fingerprint = new byte[TlsSettings.FINGERPRINT_BYTES];
            buffer.getBytes(offset + at, fingerprint);
            final int length = buffer.getShort(offset + at + TlsSettings.FINGERPRINT_BYTES, ORDER) & 0xFFFF;
            at += ENTRY_HEAD_BYTES;
            ControlHeaderDescriptor.require(lengthBytes, at + length, WHAT);
            final byte[] subject = new byte[length];
            buffer.getBytes(offset + at, subject);
            at += length;
            final RevokedCertificate read =
                new RevokedCertificate(fingerprint, new String(subject, StandardCharsets.UTF_8));
            if (null != read.problem())
            {
                throw new ControlException(ControlStatus.INVALID_REQUEST, read.problem());
            }
            certificates.add(read);
        }
        return new RevocationPage(certificates, 0 != buffer.getShort(offset + MORE_OFFSET, ORDER));
    }

    /** The one of a request that changes the list. */
    static RevokedCertificate one(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        final List<RevokedCertificate> certificates = decode(buffer, offset, lengthBytes).certificates();
        if (1 != certificates.size())
        {
            throw new ControlException(
                ControlStatus.INVALID_REQUEST, "one certificate at a time, not " + certificates.size());
        }
        return certificates.getFirst();
    }
}
