package io.verbena.protocol.tls;

import io.verbena.raas.identity.PeerIdentity;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * A certificate that is taken from nobody any more.
 *
 * @param fingerprint SHA-256 of what its authority has signed, see {@link #fingerprint(X509Certificate)}. Not copied,
 *                    so not to be changed.
 * @param subject     of it, for people; may be empty.
 */
public record RevokedCertificate(byte[] fingerprint, String subject)
{
    /** Most of them. */
    public static final int MAX_REVOKED = 1_000;
    /** Longest subject, in bytes of its UTF-8. */
    public static final int MAX_SUBJECT_BYTES = 255;

    /**
     * What a certificate is revoked by: of an ECDSA signature there is a second one that is as good, which anybody can
     * compute, so that a digest of the whole certificate would not be that of the same one with the other signature.
     *
     * @param certificate of a node or client.
     * @return SHA-256 of its signed part (TBSCertificate, RFC 5280 section 4.1).
     */
    public static byte[] fingerprint(final X509Certificate certificate)
    {
        return PeerTrust.digest(certificate, true);
    }

    /**
     * The number by which a connection names a certificate. Few of them share one; where one of these is revoked, the
     * others are, too.
     *
     * @param fingerprint of the certificate.
     * @return 1 to {@link PeerIdentity#MAX_CERTIFICATE}.
     */
    public static int number(final byte[] fingerprint)
    {
        return Math.max(1, ByteBuffer.wrap(fingerprint).getInt() & PeerIdentity.MAX_CERTIFICATE);
    }

    /** @return number of it. */
    public int number()
    {
        return number(fingerprint);
    }

    /** @return the fingerprint in hexadecimal digits. */
    public String digits()
    {
        return HexFormat.of().formatHex(fingerprint);
    }

    /** @return why it is none, one line; null when it is one. */
    public String problem()
    {
        return TlsSettings.FINGERPRINT_BYTES != fingerprint.length ?
            "a fingerprint has " + TlsSettings.FINGERPRINT_BYTES + " bytes, not " + fingerprint.length :
            subject.getBytes(StandardCharsets.UTF_8).length > MAX_SUBJECT_BYTES ||
                subject.chars().anyMatch(Character::isISOControl) ?
                "a subject has at most " + MAX_SUBJECT_BYTES + " bytes, in one line" : null;
    }

    @Override
    public boolean equals(final Object other)
    {
        return other instanceof final RevokedCertificate that && Arrays.equals(fingerprint, that.fingerprint) &&
            subject.equals(that.subject);
    }

    @Override
    public int hashCode()
    {
        return Arrays.hashCode(fingerprint);
    }

    @Override
    public String toString()
    {
        return digits() + (subject.isEmpty() ? "" : " " + subject);
    }
}
