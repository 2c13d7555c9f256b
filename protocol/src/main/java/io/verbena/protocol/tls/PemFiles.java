package io.verbena.protocol.tls;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads certificates and keys, PEM. Stateless; every method throws {@link TlsException} for what it cannot use. */
public final class PemFiles
{
    private static final Pattern KEY =
        Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");
    private static final String NO_CHAIN = "a certificate is needed, or a chain that begins with it, PEM";
    private static final String NO_AUTHORITIES = "certificates are needed, PEM";
    private static final String NO_KEY = "the private key of the certificate is needed: PEM, PKCS#8, without a " +
        "password; 'openssl pkcs8 -topk8 -nocrypt' makes one";
    private static final Set<PosixFilePermission> OTHERS = EnumSet.of(
        PosixFilePermission.GROUP_READ, PosixFilePermission.GROUP_WRITE,
        PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE);

    /**
     * A certificate, those between it and its authority, and its key.
     *
     * @param chain that begins with the certificate.
     * @param key   of the first one.
     */
    public record Identity(X509Certificate[] chain, PrivateKey key)
    {
    }

    private PemFiles()
    {
    }

    /**
     * Reads a certificate and its key, and checks that they belong together.
     *
     * @param certificateOption that named the first file.
     * @param certificate       file with the certificate, or a chain that begins with it.
     * @param keyOption         that named the second file.
     * @param key               file with the key, PKCS#8 without a password.
     * @return both.
     */
    public static Identity identity(
        final String certificateOption, final Path certificate, final String keyOption, final Path key)
    {
        final X509Certificate[] chain = certificates(certificateOption, certificate, NO_CHAIN);
        final PrivateKey secret = key(keyOption, key, chain[0]);
        if (!belongTogether(secret, chain[0]))
        {
            throw new TlsException(keyOption + ' ' + key + " is not the key of " + certificateOption + ' ' +
                certificate + ": give the two that were made together", null);
        }
        return new Identity(chain, secret);
    }

    /**
     * Reads the certificates of authorities.
     *
     * @param option that named the file.
     * @param file   with one certificate or more.
     * @return them.
     */
    public static List<X509Certificate> authorities(final String option, final Path file)
    {
        return List.of(certificates(option, file, NO_AUTHORITIES));
    }

    /**
     * Refuses the file of a key that others than its owner may read.
     *
     * @param option that named the file.
     * @param file   with the key.
     */
    public static void requireOwnerOnly(final String option, final Path file)
    {
        check(option, file);
        try
        {
            final Set<PosixFilePermission> open = EnumSet.copyOf(OTHERS);
            open.retainAll(Files.getPosixFilePermissions(file));
            if (!open.isEmpty())
            {
                throw new TlsException(option + ' ' + file + ": others can read this key: chmod 600 " + file, null);
            }
        }
        catch (final IOException ex)
        {
            throw unreadable(option, file, ex);
        }
    }

    private static X509Certificate[] certificates(final String option, final Path file, final String needed)
    {
        check(option, file);
        try (InputStream in = Files.newInputStream(file))
        {
            final X509Certificate[] chain = CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
                .map(X509Certificate.class::cast).toArray(X509Certificate[]::new);
            if (chain.length > 0)
            {
                return chain;
            }
        }
        catch (final IOException | CertificateException ex)
        {
            throw new TlsException(option + ' ' + file + ": " + needed, ex);
        }
        throw new TlsException(option + ' ' + file + ": " + needed, null);
    }

    private static PrivateKey key(final String option, final Path file, final X509Certificate certificate)
    {
        check(option, file);
        byte[] encoded = null;
        try
        {
            encoded = encodedKey(file);
            if (null != encoded)
            {
                return KeyFactory.getInstance(certificate.getPublicKey().getAlgorithm())
                    .generatePrivate(new PKCS8EncodedKeySpec(encoded));
            }
        }
        catch (final IOException | GeneralSecurityException | IllegalArgumentException ex)
        {
            throw new TlsException(option + ' ' + file + ": " + NO_KEY, ex);
        }
        finally
        {
            wipe(encoded);
        }
        throw new TlsException(option + ' ' + file + ": " + NO_KEY, null);
    }

    /** What the file has between the lines of a key, null if nothing; never a String, which could not be wiped. */
    private static byte[] encodedKey(final Path file) throws IOException
    {
        final byte[] text = Files.readAllBytes(file);
        final CharBuffer letters = StandardCharsets.ISO_8859_1.decode(ByteBuffer.wrap(text));
        byte[] base64 = null;
        try
        {
            final Matcher pem = KEY.matcher(letters);
            base64 = pem.find() ? Arrays.copyOfRange(text, pem.start(1), pem.end(1)) : null;
            return null == base64 ? null : Base64.getMimeDecoder().decode(base64);
        }
        finally
        {
            wipe(text);
            wipe(base64);
            Arrays.fill(letters.array(), '\0');
        }
    }

    private static void wipe(final byte[] bytes)
    {
        if (null != bytes)
        {
            Arrays.fill(bytes, (byte)0);
        }
    }

    private static boolean belongTogether(final PrivateKey key, final X509Certificate certificate)
    {
        final byte[] signed = {1, 2, 3};
        final String type = certificate.getPublicKey().getAlgorithm();
        try
        {
            // Others, Ed25519 say, sign under the name of the key.
            final Signature signature = Signature.getInstance(
                "EC".equals(type) ? "SHA256withECDSA" : "RSA".equals(type) ? "SHA256withRSA" : type);
            signature.initSign(key);
            signature.update(signed);
            final byte[] proof = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(signed);
            return signature.verify(proof);
        }
        catch (final GeneralSecurityException ex)
        {
            return false;
        }
    }

    private static void check(final String option, final Path file)
    {
        if (!Files.isReadable(file) || Files.isDirectory(file))
        {
            throw unreadable(option, file, null);
        }
    }

    private static TlsException unreadable(final String option, final Path file, final IOException cause)
    {
        return new TlsException(option + ' ' + file + ": no file that can be read", cause);
    }
}
