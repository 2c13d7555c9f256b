package io.verbena.protocol.bootstrap;

import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserSecret;
import io.verbena.protocol.tls.TlsSettings;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.rdma.connection.SecretLine;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/**
 * Name and secret of a user. The secret never travels: a hash of it proves it, as in SCRAM (RFC 5802), and the cluster
 * answers with a ticket that only its holder can read. Immutable.
 */
public final class UserLogin implements BootstrapSecret
{
    private static final Set<PosixFilePermission> OWNER_ONLY =
        EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

    private final String name;
    /** No String: that would be one in each dump of the heap. */
    private final char[] secret;
    private final TlsSettings tls;
    /** Of the last challenge, which is the same as long as the secret is: the hash is slow. */
    private volatile Hashed hashed;

    private record Hashed(byte[] challenge, UserSecret secret)
    {
    }

    private UserLogin(final String name, final char[] secret, final TlsSettings tls)
    {
        this.name = name;
        this.secret = secret;
        this.tls = tls;
    }

    @Override
    public TlsSettings tls()
    {
        return tls;
    }

    @Override
    public UserLogin with(final TlsSettings settings)
    {
        return new UserLogin(name, secret, settings);
    }

    /**
     * @param name   of the user.
     * @param secret of it; copied.
     * @return the login.
     * @throws BootstrapException when one of them cannot be one.
     */
    public static UserLogin of(final String name, final CharSequence secret)
    {
        if (null != User.problem(name))
        {
            throw ClusterToken.wrong(User.problem(name), null);
        }
        final String problem = problem(secret);
        if (null != problem)
        {
            throw ClusterToken.wrong(problem + ", that of user '" + name + "'", null);
        }
        return new UserLogin(name, UserSecret.letters(secret), null);
    }

    /**
     * @param secret to be checked.
     * @return why it cannot be that of a user, one line that does not show it; null when it can.
     */
    public static String problem(final CharSequence secret)
    {
        final boolean isGood = secret.length() >= UserSecret.MIN_BYTES && secret.length() <= UserSecret.MAX_BYTES &&
            secret.chars().allMatch((letter) -> letter >= ' ' && letter < 0x7F);
        return isGood ? null : "a secret has " + UserSecret.MIN_BYTES + " to " + UserSecret.MAX_BYTES +
            " printable ASCII characters, this one " + secret.length() + " characters";
    }

    /**
     * Reads the secret from a file.
     *
     * @param name of the user.
     * @param file of mode 0600, whose first line is the secret.
     * @return the login.
     * @throws BootstrapException when it cannot be read, or others than its owner may read it.
     */
    public static UserLogin read(final String name, final Path file)
    {
        try
        {
            if (!OWNER_ONLY.containsAll(Files.getPosixFilePermissions(file)))
            {
                throw ClusterToken.wrong("secret in " + file + " can be read by others: chmod 600 " + file, null);
            }
            if (Files.size(file) > 2 * UserSecret.MAX_BYTES)
            {
                throw ClusterToken.wrong("secret in " + file + ": the file is longer than a secret can be", null);
            }
            try (SecretLine line = SecretLine.read(file, 2 * UserSecret.MAX_BYTES))
            {
                return of(name, line.text());
            }
        }
        catch (final IOException ex)
        {
            throw ClusterToken.wrong(
                "secret of user '" + name + "' cannot be read from " + file + " (" + ClusterToken.reason(ex) + ")", ex);
        }
    }

    @Override
    public String userName()
    {
        return name;
    }

    @Override
    public AccessTicket nodeTicket()
    {
        return null;
    }

    @Override
    public AccessTicket clientTicket(final BootstrapAnswer answer)
    {
        return answer.ticket();
    }

    @Override
    public Keys keys(final byte[] challenge)
    {
        final Hashed last = hashed;
        if (null != last && Arrays.equals(challenge, last.challenge))
        {
            return new UserKeys(last.secret);
        }
        final ByteBuffer wrapped = BootstrapDescriptor.wrap(challenge);
        if (BootstrapDescriptor.CHALLENGE_LENGTH_BYTES != challenge.length ||
            !SecretVerifier.isPossible(wrapped.getInt(BootstrapDescriptor.CHALLENGE_ITERATIONS_OFFSET)))
        {
            throw new IllegalArgumentException("its challenge for a user cannot be read");
        }
        final UserSecret computed = UserSecret.derive(CharBuffer.wrap(secret),
            Arrays.copyOfRange(challenge, BootstrapDescriptor.CHALLENGE_SALT_OFFSET, challenge.length),
            wrapped.getInt(BootstrapDescriptor.CHALLENGE_ITERATIONS_OFFSET));
        hashed = new Hashed(challenge, computed);
        return new UserKeys(computed);
    }

    private record UserKeys(UserSecret secret) implements Keys
    {
        @Override
        public byte[] proof(final byte[]... messages)
        {
            return secret.proof(BootstrapClient.CLIENT_SIDE, messages);
        }

        @Override
        public boolean isServerProof(final byte[] given, final byte[]... messages)
        {
            return secret.isServerProof(given, BootstrapClient.SERVER_SIDE, messages);
        }

        @Override
        public AccessTicket ticket(final byte[] answer, final byte[]... messages)
        {
            final ByteBuffer wrapped = BootstrapDescriptor.wrap(answer);
            final byte[] masked = Arrays.copyOfRange(answer, BootstrapDescriptor.ANSWER_TICKET_OFFSET,
                BootstrapDescriptor.ANSWER_LOGIN_OFFSET);
            return new AccessTicket(
                PeerIdentity.user(wrapped.getInt(BootstrapDescriptor.ANSWER_USER_OFFSET),
                    wrapped.getInt(BootstrapDescriptor.ANSWER_GENERATION_OFFSET))
                    .withLogin(wrapped.getInt(BootstrapDescriptor.ANSWER_LOGIN_OFFSET)),
                IdentitySecret.read(new UnsafeBuffer(secret.mask(masked, messages)), 0));
        }

        @Override
        public String toString()
        {
            return "UserKeys{not shown}";
        }
    }

    @Override
    public String toString()
    {
        return "UserLogin{name=" + name + '}';
    }
}
