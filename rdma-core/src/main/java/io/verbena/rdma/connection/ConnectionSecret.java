package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Set;
import java.util.regex.Pattern;
import javax.crypto.KDF;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret that devices share which take packets of each other only: 32 bytes. It is never sent; messages of
 * connection services are authenticated with it, and keys of packets are derived from it. Never part of a text.
 * Immutable, any thread.
 */
public final class ConnectionSecret
{
    /** Length of a secret. */
    public static final int LENGTH_BYTES = 32;
    /** Length of what authenticates a message: the first bits of the HMAC. */
    static final int MAC_LENGTH_BYTES = 16;
    private static final String MAC = "HmacSHA256";
    private static final String HKDF = "HKDF-SHA256";
    private static final String GENERIC = "Generic";
    /** So that nothing else that is computed with the same secret, a cluster's token say, gives the same bytes. */
    private static final String MESSAGES = "verbena connection messages";
    private static final String SEAL = "verbena packet seal";
    private static final int HEX_DIGITS = 2 * LENGTH_BYTES;
    private static final Pattern DIGITS = Pattern.compile("[0-9a-f]{" + HEX_DIGITS + "}");
    private static final int MOST_BYTES = 4_096;
    private static final Set<PosixFilePermission> OF_OTHERS = Set.of(
        PosixFilePermission.GROUP_READ, PosixFilePermission.GROUP_WRITE,
        PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE);

    private final SecretKey secret;
    private final SecretKey messages;

    /** @param bytes {@link #LENGTH_BYTES}; copied. */
    public ConnectionSecret(final byte[] bytes)
    {
        if (bytes.length != LENGTH_BYTES)
        {
            throw new RdmaException("a secret has " + LENGTH_BYTES + " bytes: " + bytes.length);
        }
        secret = new SecretKeySpec(bytes, GENERIC);
        messages = derive(MESSAGES.getBytes(StandardCharsets.US_ASCII));
    }

    /**
     * Reads a secret.
     *
     * @param file whose first line has 64 hex digits, as a cluster's token file; that only its owner may read.
     * @return the secret.
     * @throws RdmaException with one line that says what to do.
     */
    public static ConnectionSecret read(final Path file)
    {
        try
        {
            if (Files.getPosixFilePermissions(file).stream().anyMatch(OF_OTHERS::contains))
            {
                throw new RdmaException(
                    "the key in " + file + " can be read or changed by others: chmod 600 " + file);
            }
            try (SecretLine line = SecretLine.read(file, MOST_BYTES))
            {
                if (!DIGITS.matcher(line.text()).matches())
                {
                    throw new RdmaException("the first line of " + file + " is no key: it takes " + HEX_DIGITS +
                        " lower-case hex digits, as in a cluster's token file");
                }
                final byte[] bytes = HexFormat.of().parseHex(line.text());
                final ConnectionSecret secret = new ConnectionSecret(bytes);
                Arrays.fill(bytes, (byte)0);
                return secret;
            }
        }
        catch (final NoSuchFileException ex)
        {
            throw new RdmaException("the key in " + file + " cannot be read: there is no such file", ex);
        }
        catch (final IOException ex)
        {
            throw new RdmaException("the key in " + file + " cannot be read: " + ex, ex);
        }
    }

    /**
     * Derives a secret by HKDF-SHA-256 (RFC 5869) without a salt.
     *
     * @param context another one gives something that has nothing to do with it.
     * @return {@link #LENGTH_BYTES}.
     */
    SecretKey derive(final byte[] context)
    {
        try
        {
            return KDF.getInstance(HKDF).deriveKey(GENERIC,
                HKDFParameterSpec.ofExtract().addIKM(secret).thenExpand(context, LENGTH_BYTES));
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("this Java runtime has no " + HKDF, ex);
        }
    }

    /** @return what says that two secrets are the same, and nothing else about them. */
    public ConnectionRequest.PacketSeal seal()
    {
        final ByteBuffer bytes = ByteBuffer.wrap(derive(SEAL.getBytes(StandardCharsets.US_ASCII)).getEncoded());
        return new ConnectionRequest.PacketSeal(bytes.getLong(), bytes.getLong());
    }

    /** What authenticates a message that follows another one, {@link #MAC_LENGTH_BYTES}. */
    byte[] mac(final byte[] before, final byte[] message)
    {
        try
        {
            final Mac mac = Mac.getInstance(MAC);
            mac.init(messages);
            // Its length, so that no two pairs of messages are the same bytes.
            mac.update((byte)(before.length >>> Byte.SIZE));
            mac.update((byte)before.length);
            mac.update(before);
            return Arrays.copyOf(mac.doFinal(message), MAC_LENGTH_BYTES);
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("every Java runtime has " + MAC, ex);
        }
    }

    @Override
    public String toString()
    {
        return "ConnectionSecret{not shown}";
    }
}
