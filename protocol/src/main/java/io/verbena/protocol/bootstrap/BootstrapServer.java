package io.verbena.protocol.bootstrap;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.User;
import io.verbena.raas.identity.IdentitySecret;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Answers the handshake: one virtual thread for each connection, a bounded number at once, each with a deadline for
 * every message. Thread-safe. Closed by its opener.
 */
public final class BootstrapServer implements AutoCloseable
{
    static final int MAX_CONNECTIONS = 64;
    /** Connections beyond, which are asked to come again at a time; more wait in the backlog. */
    private static final int MAX_REFUSED = 1_024;
    private static final int MESSAGE_TIMEOUT_MS = 2_000;
    /** A user computes a slow hash before it answers. */
    private static final int USER_TIMEOUT_MS = 10_000;
    private static final int BACKLOG = 1_024;
    /** Time that a handshake is expected to take: as the last one took, within these bounds. */
    private static final int MIN_HANDSHAKE_MS = 20;
    private static final int MAX_HANDSHAKE_MS = 1_000;
    /** Pause after a connection that could not be accepted, for want of descriptors say: it waits in the backlog. */
    private static final long ACCEPT_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ServerSocket socket;
    private final ClusterAddress address;
    private final ClusterToken token;
    private final BootstrapAnswer answer;
    private final Supplier<AccessRules> access;
    private final byte[] key = SecretVerifier.randomKey();
    private final SecureRandom random = new SecureRandom();
    private final Semaphore connections = new Semaphore(MAX_CONNECTIONS);
    private final Semaphore refused = new Semaphore(MAX_REFUSED);
    private volatile int handshakeMs = MIN_HANDSHAKE_MS;
    private final AtomicLong refusals = new AtomicLong();
    private final AtomicLong abandoned = new AtomicLong();
    private volatile String lastRefusal = "";
    private final Thread thread;

    private BootstrapServer(
        final ServerSocket socket, final ClusterAddress address, final ClusterToken token,
        final BootstrapAnswer answer, final Supplier<AccessRules> access)
    {
        this.access = access;
        this.socket = socket;
        this.address = address;
        this.token = token;
        this.answer = answer;
        thread = Thread.ofPlatform().name("verbena-bootstrap").daemon().unstarted(this::accept);
    }

    /**
     * Listens.
     *
     * @param address where; port 0 lets the system choose.
     * @param token   of the cluster.
     * @param answer  for those who have it.
     * @param access  the users of the cluster as they are now, who may join as clients; any thread.
     * @return the server.
     * @throws BootstrapException when the port is busy or the host not this one.
     */
    public static BootstrapServer open(
        final ClusterAddress address, final ClusterToken token, final BootstrapAnswer answer,
        final Supplier<AccessRules> access)
    {
        ServerSocket socket = null;
        try
        {
            socket = new ServerSocket();
            return open(socket, address, token, answer, access);
        }
        catch (final IOException ex)
        {
            closeQuietly(socket);
            throw new BootstrapException(
                BootstrapException.Reason.UNREACHABLE, "cannot listen at " + address + ": " + why(ex), ex);
        }
    }

    static BootstrapServer open(
        final ServerSocket socket, final ClusterAddress address, final ClusterToken token,
        final BootstrapAnswer answer, final Supplier<AccessRules> access) throws IOException
    {
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getByName(address.host()), address.port()), BACKLOG);
        final BootstrapServer server = new BootstrapServer(
            socket, new ClusterAddress(address.host(), socket.getLocalPort()), token, answer, access);
        server.thread.start();
        return server;
    }

    private static String why(final IOException ex)
    {
        if (ex instanceof UnknownHostException)
        {
            return "unknown host; give an address of this host";
        }
        final String why = String.valueOf(ex.getMessage());
        return why + (why.contains("assign") ? "; give an address of this host" :
            why.contains("in use") ? "; is another cluster running there? choose another port" :
            "; choose another port");
    }

    /** @return where it listens, with the port that was chosen. */
    public ClusterAddress address()
    {
        return address;
    }

    /**
     * @return handshakes that were refused: another token or version, a message that is none, and connections for
     *     which there was no room. A peer that hangs up or falls silent is not refused, see {@link #abandoned()}.
     */
    public long refusals()
    {
        return refusals.get();
    }

    /** @return handshakes that the peer gave up: it or its host died, was too slow, or only tried the port. */
    public long abandoned()
    {
        return abandoned.get();
    }

    /** @return address and reason of the last refusal, in one line; empty when there was none. */
    public String lastRefusal()
    {
        return lastRefusal;
    }

    private void accept()
    {
        while (!socket.isClosed())
        {
            try
            {
                final Socket connection = socket.accept();
                if (socket.isClosed())
                {
                    closeQuietly(connection);
                }
                else if (connections.tryAcquire())
                {
                    Thread.ofVirtual().name("verbena-bootstrap-connection").start(() -> serve(connection));
                }
                else
                {
                    refused.acquireUninterruptibly();
                    Thread.ofVirtual().name("verbena-bootstrap-refusal").start(() -> refuse(connection));
                }
            }
            catch (final IOException ex)
            {
                if (!socket.isClosed())
                {
                    lastRefusal = "cannot accept connections: " + ex.getMessage();
                    refusals.incrementAndGet();
                    LockSupport.parkNanos(ACCEPT_PAUSE_NS);
                }
            }
        }
    }

    private void serve(final Socket connection)
    {
        final long startNs = SystemNanoClock.INSTANCE.nanoTime();
        try (connection)
        {
            connection.setTcpNoDelay(true);
            shakeHands(connection);
            handshakeMs = Math.clamp(TimeUnit.NANOSECONDS.toMillis(
                SystemNanoClock.INSTANCE.nanoTime() - startNs), MIN_HANDSHAKE_MS, MAX_HANDSHAKE_MS);
        }
        catch (final IOException ex)
        {
            abandoned.incrementAndGet();
        }
        finally
        {
            connections.release();
        }
    }

    private void refuse(final Socket connection)
    {
        try (connection)
        {
            connection.setTcpNoDelay(true);
            askToComeAgain(connection);
        }
        catch (final IOException ex)
        {
            abandoned.incrementAndGet();
        }
        finally
        {
            refused.release();
        }
    }

    /** The hello is read first: closing a socket that holds unread bytes would take the answer from its receiver. */
    private void askToComeAgain(final Socket connection) throws IOException
    {
        if (null != readHello(connection, new MessageReader(connection, MESSAGE_TIMEOUT_MS)))
        {
            final String busy = MAX_CONNECTIONS + " handshakes are under way";
            countRefusal(connection, busy);
            final int ahead = 1 + (MAX_REFUSED - refused.availablePermits()) / MAX_CONNECTIONS;
            writeQuietly(connection.getOutputStream(), BootstrapDescriptor.busy(busy, ahead * handshakeMs));
        }
    }

    private void shakeHands(final Socket connection) throws IOException
    {
        final MessageReader in = new MessageReader(connection, MESSAGE_TIMEOUT_MS);
        final OutputStream out = connection.getOutputStream();
        final ByteBuffer hello = readHello(connection, in);
        if (null == hello)
        {
            return;
        }
        final byte[] serverNonce = new byte[BootstrapDescriptor.NONCE_LENGTH_BYTES];
        random.nextBytes(serverNonce);
        final int version = hello.getShort(BootstrapDescriptor.VERSION_OFFSET) & 0xFFFF;
        final int formats = hello.getInt(BootstrapDescriptor.FORMATS_OFFSET);
        if (BootstrapDescriptor.VERSION != version || BootstrapDescriptor.FORMATS != formats)
        {
            final String mismatch = BootstrapDescriptor.mismatch(
                BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS, version, formats);
            countRefusal(connection, mismatch);
            writeQuietly(out, BootstrapDescriptor.challenge(
                BootstrapDescriptor.STATUS_VERSION_MISMATCH, mismatch, serverNonce));
            return;
        }
        if (hello.capacity() > BootstrapDescriptor.HELLO_LENGTH_BYTES)
        {
            serveUser(connection, in, hello.array(), serverNonce);
            return;
        }
        final byte[] challenge = BootstrapDescriptor.challenge(BootstrapDescriptor.STATUS_OK, "", serverNonce);
        out.write(challenge);
        in.startMessage();
        final byte[] proof = in.read(BootstrapDescriptor.PROOF_LENGTH_BYTES);
        if (!token.isProof(proof, BootstrapClient.CLIENT_SIDE, hello.array(), challenge))
        {
            countRefusal(connection, "it has another token");
            writeQuietly(out, BootstrapDescriptor.refusal(BootstrapDescriptor.STATUS_WRONG_TOKEN,
                "the cluster has another token: give the file it was started with"));
            return;
        }
        final byte[] message = BootstrapDescriptor.answer(answer);
        BootstrapDescriptor.putProof(
            message, token.proof(BootstrapClient.SERVER_SIDE, hello.array(), challenge, proof, message));
        out.write(message);
    }

    /** The hello, or null when there is none: counted, and not to be answered. */
    private ByteBuffer readHello(final Socket connection, final MessageReader in) throws IOException
    {
        final ByteBuffer hello = BootstrapDescriptor.wrap(in.readUpTo(BootstrapDescriptor.HELLO_LENGTH_BYTES));
        if (0 == hello.capacity())
        {
            abandoned.incrementAndGet();
            return null;
        }
        if (hello.capacity() < BootstrapDescriptor.HELLO_LENGTH_BYTES || BootstrapDescriptor.MAGIC != hello.getInt(0))
        {
            countRefusal(connection, "what it sends is not the hello of a Verbena process");
            return null;
        }
        return withName(connection, in, hello);
    }

    /** With the name of a user behind it, where there is one; all of it is read before anything is answered. */
    private ByteBuffer withName(final Socket connection, final MessageReader in, final ByteBuffer hello)
        throws IOException
    {
        final int nameLength = hello.getInt(BootstrapDescriptor.TEXT_LENGTH_OFFSET);
        if (0 == nameLength || BootstrapDescriptor.VERSION != hello.getShort(BootstrapDescriptor.VERSION_OFFSET))
        {
            return hello;
        }
        if (nameLength < 0 || nameLength > User.MAX_NAME_LENGTH)
        {
            countRefusal(connection, "the name of a user has " + nameLength + " bytes");
            return null;
        }
        final byte[] whole = Arrays.copyOf(hello.array(), BootstrapDescriptor.HELLO_LENGTH_BYTES + nameLength);
        System.arraycopy(in.read(nameLength), 0, whole, BootstrapDescriptor.HELLO_LENGTH_BYTES, nameLength);
        return BootstrapDescriptor.wrap(whole);
    }

    /** As with the token, but proved with what is kept of the user's secret. A user that there is not is asked too. */
    private void serveUser(
        final Socket connection, final MessageReader in, final byte[] hello, final byte[] serverNonce)
        throws IOException
    {
        final String name = new String(hello, BootstrapDescriptor.HELLO_LENGTH_BYTES,
            hello.length - BootstrapDescriptor.HELLO_LENGTH_BYTES, StandardCharsets.US_ASCII);
        final AccessRules rules = access.get();
        final User user = rules.user(name);
        final SecretVerifier verifier = null == user ? SecretVerifier.ofNobody(key, name) : user.verifier();
        final byte[] salt = BootstrapDescriptor.ofVerifier(verifier);
        final byte[] whole = BootstrapDescriptor.challenge(BootstrapDescriptor.STATUS_OK, salt, serverNonce);
        final byte[] challenge = Arrays.copyOf(whole, BootstrapDescriptor.HELLO_LENGTH_BYTES);
        final OutputStream out = connection.getOutputStream();
        out.write(whole);
        in.startMessage(USER_TIMEOUT_MS);
        final byte[] proof = in.read(BootstrapDescriptor.PROOF_LENGTH_BYTES);
        final boolean isRight = verifier.isProof(proof, BootstrapClient.CLIENT_SIDE, hello, challenge, salt);
        if (!isRight || null == user)
        {
            countRefusal(connection, "it names a user that there is not, or does not have the secret of it");
            writeQuietly(out, BootstrapDescriptor.refusal(BootstrapDescriptor.STATUS_WRONG_TOKEN,
                "there is no such user with this secret"));
            return;
        }
        final byte[] ticket = new byte[IdentitySecret.LENGTH_BYTES];
        rules.secretOf(user.identity()).write(new UnsafeBuffer(ticket), 0);
        final byte[] message = BootstrapDescriptor.answer(answer);
        BootstrapDescriptor.putTicket(message, user.number(), user.generation(),
            verifier.mask(ticket, hello, challenge, salt, proof));
        BootstrapDescriptor.putProof(message, verifier.serverProof(
            BootstrapClient.SERVER_SIDE, hello, challenge, salt, proof, message));
        out.write(message);
    }

    /** Before the refusal is sent: whoever receives it may read the count at once. */
    private void countRefusal(final Socket connection, final String reason)
    {
        lastRefusal = connection.getInetAddress().getHostAddress() + ": " + reason;
        refusals.incrementAndGet();
    }

    private static void writeQuietly(final OutputStream out, final byte[] refusal)
    {
        try
        {
            out.write(refusal);
        }
        catch (final IOException ignore)
        {
            // The other side has gone: it is refused all the same.
        }
    }

    /** Stops listening; handshakes under way end by themselves, within seconds. */
    @Override
    public void close()
    {
        closeQuietly(socket);
        try
        {
            // Until its accept() has returned, the system goes on listening: nobody may be answered after this.
            thread.join(MESSAGE_TIMEOUT_MS);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }

    private static void closeQuietly(final AutoCloseable closeable)
    {
        try
        {
            if (null != closeable)
            {
                closeable.close();
            }
        }
        catch (final Exception ignore)
        {
            // Nothing was to be said over it any more.
        }
    }

    @Override
    public String toString()
    {
        return "BootstrapServer{address=" + address + ", refusals=" + refusals +
            ", abandoned=" + abandoned + ", lastRefusal=" + lastRefusal + '}';
    }
}
