package io.verbena.protocol.bootstrap;

import io.verbena.protocol.tls.TlsSettings;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.rdma.connection.ConnectionSecret;
import io.verbena.rdma.connection.SecretLine;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.UUID;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret that the nodes and clients of one cluster share: 32 bytes, kept as 64 hex digits in a file that only its
 * owner may read. It never travels: each side proves that it has it, by an HMAC-SHA256 over all that both have sent.
 * Immutable.
 */
public final class ClusterToken implements BootstrapSecret
{
    /** Length of a token. */
    public static final int LENGTH_BYTES = 32;
    private static final int MOST_BYTES = 4_096;
    private static final String ALGORITHM = "HmacSHA256";
    private static final String NODES = "verbena nodes";
    private static final Set<PosixFilePermission> OWNER_ONLY =
        EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

    /** Second line of the file, of a cluster with TLS and an authority of its own; the fingerprint of that follows. */
    private static final String AUTHORITY = "tls-authority sha256:";

    private final byte[] bytes;
    private final TlsSettings tls;

    private ClusterToken(final byte[] bytes, final TlsSettings tls)
    {
        this.bytes = bytes;
        this.tls = tls;
    }

    @Override
    public TlsSettings tls()
    {
        return tls;
    }

    @Override
    public ClusterToken with(final TlsSettings settings)
    {
        return new ClusterToken(bytes, settings);
    }

    /** @return one that nobody else has, without TLS. */
    public static ClusterToken random()
    {
        final byte[] random = new byte[LENGTH_BYTES];
        new SecureRandom().nextBytes(random);
        return new ClusterToken(random, null);
    }

    /**
     * Reads the token, or makes it when the file is not there.
     *
     * @param file of mode 0600, in a folder that exists.
     * @return the token.
     * @throws BootstrapException when it can be neither read nor made.
     */
    public static ClusterToken readOrCreate(final Path file)
    {
        if (!Files.exists(file))
        {
            final ClusterToken made = random();
            try
            {
                final byte[] text = made.line("");
                createWhole(file, text);
                Arrays.fill(text, (byte)0);
                return made;
            }
            catch (final FileAlreadyExistsException ex)
            {
                return read(file); // another process was faster
            }
            catch (final IOException ex)
            {
                throw wrong("cluster token cannot be written to " + file + " (" + reason(ex) + ")", ex);
            }
        }
        return read(file);
    }

    /**
     * Has the file of a token name the authority of the cluster; makes the token when the file is not there.
     *
     * @param file        of mode 0600, in a folder that exists; readers see what it was or what it becomes.
     * @param fingerprint SHA-256 of the certificate of the authority.
     * @throws BootstrapException when it cannot be written, or names another authority.
     */
    public static void name(final Path file, final byte[] fingerprint)
    {
        final ClusterToken token = readOrCreate(file);
        final String line = AUTHORITY + HexFormat.of().formatHex(fingerprint);
        try (SecretLine present = SecretLine.read(file, MOST_BYTES))
        {
            if (present.rest().isEmpty())
            {
                final Path written = file.resolveSibling("." + file.getFileName() + "." + UUID.randomUUID());
                final byte[] text = token.line(line + '\n');
                createWhole(written, text);
                Arrays.fill(text, (byte)0);
                Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
                SyncedNames.sync(file.toAbsolutePath().getParent());
            }
            else if (!present.rest().equals(line))
            {
                throw wrong("token in " + file + " names another authority: that of the cluster is " +
                    line.substring(AUTHORITY.length()) + "; remove the second line", null);
            }
        }
        catch (final IOException ex)
        {
            throw wrong("cluster token cannot be written to " + file + " (" + reason(ex) + ")", ex);
        }
    }

    /** The file's first line, and the next one: no String, which could not be wiped. */
    private byte[] line(final String next)
    {
        final ByteBuffer text = ByteBuffer.allocate(2 * LENGTH_BYTES + 1 + next.length());
        for (final byte each : bytes)
        {
            text.put((byte)HexFormat.of().toHighHexDigit(each)).put((byte)HexFormat.of().toLowHexDigit(each));
        }
        return text.put((byte)'\n').put(next.getBytes(StandardCharsets.US_ASCII)).array();
    }

    /**
     * Written beside, then linked to its name, which fails when there is one: a reader sees all of it, also when two
     * processes create it at once, or the one that does is killed.
     */
    private static void createWhole(final Path file, final byte[] text) throws IOException
    {
        final Path written = file.resolveSibling("." + file.getFileName() + "." + UUID.randomUUID());
        try
        {
            try (FileChannel channel = FileChannel.open(
                written, EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(OWNER_ONLY)))
            {
                channel.write(ByteBuffer.wrap(text));
                channel.force(true);
            }
            Files.createLink(file, written);
        }
        finally
        {
            Files.deleteIfExists(written);
        }
        try (FileChannel folder = FileChannel.open(file.toAbsolutePath().getParent(), StandardOpenOption.READ))
        {
            folder.force(true);
        }
    }

    /**
     * Reads a token.
     *
     * @param file of mode 0600.
     * @return the token.
     * @throws BootstrapException when it is not there, holds no token, or others than its owner may read it.
     */
    public static ClusterToken read(final Path file)
    {
        try
        {
            if (!OWNER_ONLY.containsAll(Files.getPosixFilePermissions(file)))
            {
                throw wrong("cluster token in " + file + " can be read by others: chmod 600 " + file, null);
            }
            try (SecretLine line = SecretLine.read(file, MOST_BYTES))
            {
                final String rest = line.rest();
                return ofHex(stripped(line.text()), file.toString()).with(rest.isEmpty() ? null : pinned(rest, file));
            }
        }
        catch (final IOException ex)
        {
            throw wrong("cluster token cannot be read from " + file + " (" + reason(ex) +
                "): it was made with the cluster, copy it from there", ex);
        }
    }

    private static CharSequence stripped(final CharSequence line)
    {
        int begin = 0;
        int end = line.length();
        while (begin < end && ' ' >= line.charAt(begin))
        {
            begin++;
        }
        while (begin < end && ' ' >= line.charAt(end - 1))
        {
            end--;
        }
        return line.subSequence(begin, end);
    }

    private static TlsSettings pinned(final String line, final Path file)
    {
        try
        {
            final byte[] fingerprint =
                HexFormat.of().parseHex(line.startsWith(AUTHORITY) ? line.substring(AUTHORITY.length()) : "");
            if (TlsSettings.FINGERPRINT_BYTES == fingerprint.length)
            {
                return TlsSettings.pinned(fingerprint);
            }
        }
        catch (final IllegalArgumentException ex)
        {
            throw notPinned(file, ex);
        }
        throw notPinned(file, null);
    }

    private static BootstrapException notPinned(final Path file, final Throwable cause)
    {
        return wrong("second line of the token in " + file + " is not '" + AUTHORITY + "' with " +
            2 * TlsSettings.FINGERPRINT_BYTES + " hex digits: copy the file from the cluster again", cause);
    }

    static String reason(final IOException ex)
    {
        return switch (ex)
        {
            case final NoSuchFileException _ -> "no such file or folder";
            case final AccessDeniedException _ -> "permission denied";
            case final FileSystemException system when null != system.getReason() -> system.getReason();
            default -> ex.getMessage();
        };
    }

    static ClusterToken ofHex(final CharSequence hex, final String where)
    {
        try
        {
            final byte[] bytes = HexFormat.of().parseHex(hex);
            if (LENGTH_BYTES == bytes.length)
            {
                return new ClusterToken(bytes, null);
            }
        }
        catch (final IllegalArgumentException ex)
        {
            throw wrong("not a cluster token in " + where + ": it has " + 2 * LENGTH_BYTES + " hex digits", ex);
        }
        throw wrong("not a cluster token in " + where + ": it has " + 2 * LENGTH_BYTES + " hex digits", null);
    }

    /**
     * Proves to have the token, without showing it, and that what was sent has arrived as it was sent.
     *
     * @param side     who proves it; a proof of one side is none of the other.
     * @param messages all that both sides have sent before, in order; where each ends is part of its format.
     */
    byte[] proof(final String side, final byte[]... messages)
    {
        try
        {
            final Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(bytes, ALGORITHM));
            mac.update(side.getBytes(StandardCharsets.US_ASCII));
            for (final byte[] message : messages)
            {
                mac.update(message);
            }
            return mac.doFinal();
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("every JDK has " + ALGORITHM, ex);
        }
    }

    /**
     * @return what those who have the token prove to the nodes of the cluster that they are; covered by packets that
     *     are sealed with the token.
     */
    public IdentitySecret clusterSecret()
    {
        return IdentitySecret.read(new UnsafeBuffer(proof(NODES)), 0)
            .coveredBy((seal) -> new ConnectionSecret(bytes).seal().equals(seal));
    }

    @Override
    public AccessTicket nodeTicket()
    {
        return new AccessTicket(PeerIdentity.UNREGISTERED, clusterSecret());
    }

    @Override
    public AccessTicket joiningTicket(final BootstrapAnswer answer)
    {
        return null == answer.ticket() ? nodeTicket() : answer.ticket();
    }

    @Override
    public AccessTicket clientTicket(final BootstrapAnswer answer)
    {
        return new AccessTicket(PeerIdentity.OPERATOR, clusterSecret());
    }

    @Override
    public String userName()
    {
        return "";
    }

    @Override
    public Keys keys(final byte[] salt)
    {
        return new Keys()
        {
            @Override
            public byte[] proof(final byte[]... messages)
            {
                return ClusterToken.this.proof(BootstrapClient.CLIENT_SIDE, messages);
            }

            @Override
            public boolean isServerProof(final byte[] given, final byte[]... messages)
            {
                return isProof(given, BootstrapClient.SERVER_SIDE, messages);
            }

            @Override
            public AccessTicket ticket(final byte[] answer, final byte[]... messages)
            {
                return BootstrapDescriptor.joiningTicket(answer);
            }
        };
    }

    /** Compares in a time that says nothing about how much of it was right. */
    boolean isProof(final byte[] given, final String side, final byte[]... messages)
    {
        return MessageDigest.isEqual(given, proof(side, messages));
    }

    static BootstrapException wrong(final String message, final Throwable cause)
    {
        return new BootstrapException(BootstrapException.Reason.WRONG_TOKEN, message, cause);
    }

    @Override
    public String toString()
    {
        return "ClusterToken{secret}";
    }
}
