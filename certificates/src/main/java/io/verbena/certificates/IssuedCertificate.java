package io.verbena.certificates;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.PrivateKey;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A certificate and its key.
 *
 * @param chain that begins with it and ends with its authority.
 * @param key   of the first certificate.
 */
public record IssuedCertificate(List<X509Certificate> chain, PrivateKey key)
{
    private static final Set<PosixFilePermission> OWNER_ONLY =
        EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    private static final int LINE_LENGTH = 64;

    /**
     * Writes both, PEM, in place of what was there; on disk when this returns.
     *
     * @param certificateFile for the chain.
     * @param keyFile         for the key, made with mode 0600.
     * @throws IOException when one cannot be written.
     */
    public void write(final Path certificateFile, final Path keyFile) throws IOException
    {
        final byte[] encoded = key.getEncoded();
        final byte[] text = pem("PRIVATE KEY", encoded);
        try
        {
            writeOwnerOnly(keyFile, text);
        }
        finally
        {
            Arrays.fill(encoded, (byte)0);
            Arrays.fill(text, (byte)0);
        }
        writeCertificates(certificateFile, chain);
    }

    /**
     * Writes certificates, PEM, in place of what was there.
     *
     * @param file         of mode 0600.
     * @param certificates in this order.
     * @throws IOException when it cannot be written.
     */
    public static void writeCertificates(final Path file, final List<X509Certificate> certificates) throws IOException
    {
        final ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (final X509Certificate each : certificates)
        {
            try
            {
                text.writeBytes(pem("CERTIFICATE", each.getEncoded()));
            }
            catch (final CertificateEncodingException ex)
            {
                throw new IOException("certificate cannot be encoded: " + ex.getMessage(), ex);
            }
        }
        writeOwnerOnly(file, text.toByteArray());
    }

    private static void writeOwnerOnly(final Path file, final byte[] text) throws IOException
    {
        try (FileChannel channel = FileChannel.open(file,
            EnumSet.of(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(OWNER_ONLY)))
        {
            channel.write(ByteBuffer.wrap(text));
            channel.force(true);
        }
    }

    /** No String: that of a key could not be wiped. */
    private static byte[] pem(final String what, final byte[] bytes)
    {
        final byte[] begin = ("-----BEGIN " + what + "-----\n").getBytes(StandardCharsets.US_ASCII);
        final byte[] base64 = Base64.getMimeEncoder(LINE_LENGTH, new byte[]{'\n'}).encode(bytes);
        final byte[] end = ("\n-----END " + what + "-----\n").getBytes(StandardCharsets.US_ASCII);
        final byte[] text =
            ByteBuffer.allocate(begin.length + base64.length + end.length).put(begin).put(base64).put(end).array();
        Arrays.fill(base64, (byte)0);
        return text;
    }

    @Override
    public String toString()
    {
        return "IssuedCertificate{" + chain.getFirst().getSubjectX500Principal() + '}';
    }
}
