package io.verbena.protocol.bootstrap;

import io.verbena.protocol.bootstrap.BootstrapException.Reason;

import io.verbena.protocol.tls.TlsSettings;
import org.agrona.concurrent.SystemNanoClock;

import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;

/** The asking side of the handshake. Stateless. */
public final class BootstrapClient
{
    static final String CLIENT_SIDE = "verbena client";
    static final String SERVER_SIDE = "verbena server";
    private static final int MAX_ANSWER_BYTES = 4096;
    /** Whatever a server says. */
    private static final int MAX_RETRY_DELAY_MS = 60_000;
    /** A server that hung up is asked again so often: whoever listens there may be no cluster. */
    private static final int MAX_HANG_UPS = 4;
    private static final int HANG_UP_DELAY_MS = 100;

    private BootstrapClient()
    {
    }

    /** Loads what the handshake needs, for a process that has something else to do meanwhile; any thread. */
    public static void prepare()
    {
        final byte[] nonce = new byte[BootstrapDescriptor.NONCE_LENGTH_BYTES];
        new SecureRandom().nextBytes(nonce);
        ClusterToken.ofHex("00".repeat(ClusterToken.LENGTH_BYTES), "no file").proof(CLIENT_SIDE, nonce, nonce);
    }

    /** Too many shake hands at the moment: the server says so, or has hung up. */
    static final class BusyException extends Exception
    {
        private static final long serialVersionUID = 1L;
        private final transient BootstrapException failure;
        private final int delayMs;
        private final boolean isHangUp;

        /**
         * @param failure  when there is no time to ask again.
         * @param isHangUp the server has hung up, as one does that is too busy, and as one that is no cluster.
         */
        BusyException(final BootstrapException failure, final int delayMs, final boolean isHangUp)
        {
            super(failure);
            this.failure = failure;
            this.delayMs = delayMs;
            this.isHangUp = isHangUp;
        }
    }

    /**
     * Asks a cluster how to reach it. Blocks. A cluster that is too busy is asked again when it says, for as long as
     * one wait may last. Of a group of meta servers, all are asked, since only the leader answers; when none does,
     * again for as long: there will be another one.
     *
     * @param address   of the cluster.
     * @param token     of the cluster, or the secret of a user; with TLS, if the cluster has any.
     * @param timeoutMs longest wait for connecting, for TLS, for each whole answer, and for a cluster that is too
     *                  busy; 1 or more.
     * @return what the cluster answers.
     * @throws BootstrapException when it does not answer: one line that says why.
     */
    public static BootstrapAnswer ask(final ClusterAddress address, final BootstrapSecret token, final int timeoutMs)
    {
        return address.others().isEmpty() ?
            ask(address, token, timeoutMs, BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS) :
            find(address, token, timeoutMs);
    }

    /**
     * As {@link #ask(ClusterAddress, BootstrapSecret, int)}, but a single address, too, is asked again for as long as
     * nobody listens there, or whoever does says nothing: it may be that of a member of a group which elects a leader.
     * What asking again does not change ends it at once: another token, version or certificate, or a host that is not
     * known.
     *
     * @param address   of the cluster, or of one member of its group.
     * @param token     as above.
     * @param timeoutMs longest wait for an answer; 1 or more.
     * @return what the cluster answers.
     * @throws BootstrapException when it does not answer: one line that says why.
     */
    public static BootstrapAnswer find(final ClusterAddress address, final BootstrapSecret token, final int timeoutMs)
    {
        final boolean isNowhere = address.others().isEmpty() &&
            new InetSocketAddress(address.host(), address.port()).isUnresolved();
        return isNowhere ? ask(address, token, timeoutMs) : find(address, null, token, timeoutMs);
    }

    /**
     * As {@link #find(ClusterAddress, BootstrapSecret, int)}, of a host that is not known at the moment, too, and asks
     * the members that the cluster has named before, too. One of these counts only when it is of that cluster, and what
     * it refuses says nothing about those that were given: another one may be there by now.
     *
     * @param address that was given.
     * @param before  the cluster's last answer; null: it is not known.
     */
    static BootstrapAnswer find(
        final ClusterAddress address, final BootstrapAnswer before, final BootstrapSecret token, final int timeoutMs)
    {
        final long endNs = SystemNanoClock.INSTANCE.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        final List<ClusterAddress> given = address.all();
        final List<ClusterAddress> named = new ArrayList<>(null == before ? List.of() : before.members());
        named.removeAll(given);
        // Where there is only one to ask, no other answer is delayed by waiting for it.
        final boolean isAlone = 1 == given.size() && named.isEmpty();
        return GroupBootstrap.ask(address, named, timeoutMs, (member, memberTimeoutMs) ->
        {
            final BootstrapAnswer answer = ask(member, token, isAlone ? leftMs(endNs) : memberTimeoutMs,
                BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS);
            if (null != before && answer.clusterId() != before.clusterId() && !given.contains(member))
            {
                throw failure(Reason.UNREACHABLE, member, "it is another cluster by now", null);
            }
            return answer;
        });
    }

    private static int leftMs(final long endNs)
    {
        return (int)Math.max(1, TimeUnit.NANOSECONDS.toMillis(endNs - SystemNanoClock.INSTANCE.nanoTime()));
    }

    static BootstrapAnswer ask(
        final ClusterAddress address, final BootstrapSecret token, final int timeoutMs, final int version,
        final int formats)
    {
        // Before there is a connection: the server does not wait for a process that loads its cryptography first.
        final SecureRandom random = new SecureRandom();
        final byte[] clientNonce = new byte[BootstrapDescriptor.NONCE_LENGTH_BYTES];
        random.nextBytes(clientNonce);
        if (token instanceof final ClusterToken ofCluster)
        {
            ofCluster.proof(CLIENT_SIDE, clientNonce, clientNonce);
        }
        prepare(address, token.tls());
        final long giveUpNs = SystemNanoClock.INSTANCE.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        for (int hangUps = 0; ;)
        {
            try
            {
                return askOnce(address, token, timeoutMs, version, formats, clientNonce);
            }
            catch (final BusyException ex)
            {
                // Not all who were refused at the same time come back at the same time.
                final long delayNs = TimeUnit.MILLISECONDS.toNanos(
                    ex.delayMs + ThreadLocalRandom.current().nextLong(1L + ex.delayMs));
                hangUps += ex.isHangUp ? 1 : 0;
                if (hangUps > MAX_HANG_UPS || SystemNanoClock.INSTANCE.nanoTime() + delayNs - giveUpNs > 0)
                {
                    throw ex.failure;
                }
                LockSupport.parkNanos(delayNs);
                random.nextBytes(clientNonce);
            }
        }
    }

    private static void prepare(final ClusterAddress address, final TlsSettings tls)
    {
        try
        {
            if (null != tls)
            {
                tls.prepare();
            }
        }
        catch (final IOException ex)
        {
            throw failure(Reason.UNTRUSTED, address, ex.getMessage(), ex);
        }
    }

    private static BootstrapAnswer askOnce(
        final ClusterAddress address, final BootstrapSecret token, final int timeoutMs, final int version,
        final int formats, final byte[] clientNonce) throws BusyException
    {
        try (Socket socket = new Socket())
        {
            final InetSocketAddress target = new InetSocketAddress(address.host(), address.port());
            if (target.isUnresolved())
            {
                throw failure(Reason.UNREACHABLE, address, "the host is not known", null);
            }
            connect(socket, target, address, timeoutMs);
            socket.setTcpNoDelay(true);
            final Socket channel = null == token.tls() ? socket : secure(socket, address, token.tls(), timeoutMs);
            final MessageReader in = new MessageReader(channel, timeoutMs);
            return shakeHands(channel, in, address, token, version, formats, clientNonce);
        }
        catch (final SSLException ex)
        {
            final BootstrapException failure = failure(Reason.UNTRUSTED, address, TlsSettings.why(ex), ex);
            if (TlsSettings.isHangUp(ex))
            {
                throw new BusyException(failure, HANG_UP_DELAY_MS, true);
            }
            throw failure;
        }
        catch (final EOFException ex)
        {
            throw new BusyException(failure(Reason.VERSION_MISMATCH, address,
                "who listens there is no cluster, or too busy", ex), HANG_UP_DELAY_MS, true);
        }
        catch (final SocketTimeoutException ex)
        {
            throw failure(Reason.UNREACHABLE, address, "no answer within " + timeoutMs + " ms; is the cluster up?", ex);
        }
        catch (final SocketException ex)
        {
            throw new BusyException(unreachable(address, ex), HANG_UP_DELAY_MS, true);
        }
        catch (final IOException ex)
        {
            throw unreachable(address, ex);
        }
    }

    /** A timeout of the socket alone would begin again with each byte. */
    private static Socket secure(
        final Socket socket, final ClusterAddress address, final TlsSettings tls, final int timeoutMs)
        throws IOException
    {
        final SSLSocket secured = tls.ofClient(socket, address.host(), address.port());
        final AtomicBoolean isOver = new AtomicBoolean();
        final Thread deadline = Thread.ofVirtual().name("verbena-tls-deadline").start(() ->
        {
            try
            {
                Thread.sleep(timeoutMs);
                isOver.set(true);
                socket.close();
            }
            catch (final InterruptedException | IOException ignore)
            {
                // The handshake has ended before.
            }
        });
        try
        {
            socket.setSoTimeout(timeoutMs);
            secured.startHandshake();
            tls.requireMetaServer(secured);
            return secured;
        }
        catch (final IOException ex)
        {
            throw isOver.get() ? new SocketTimeoutException("no TLS within " + timeoutMs + " ms") : ex;
        }
        finally
        {
            deadline.interrupt();
        }
    }

    private static BootstrapException unreachable(final ClusterAddress address, final IOException ex)
    {
        return failure(Reason.UNREACHABLE, address, ex.getMessage() + "; is the cluster up?", ex);
    }

    private static BusyException busy(final ClusterAddress address, final String why, final int saidMs)
    {
        final int delayMs = Math.clamp(saidMs, 1, MAX_RETRY_DELAY_MS);
        return new BusyException(
            failure(Reason.UNREACHABLE, address, why + "; try again in " + delayMs + " ms", null), delayMs, false);
    }

    private static void connect(
        final Socket socket, final InetSocketAddress target, final ClusterAddress address, final int timeoutMs)
        throws IOException
    {
        try
        {
            socket.connect(target, timeoutMs);
        }
        catch (final SocketTimeoutException ex)
        {
            throw failure(Reason.UNREACHABLE, address, "no answer from port " + address.port() + "/tcp within " +
                timeoutMs + " ms; is the cluster up? Is the port open in the firewalls between?", ex);
        }
        catch (final IOException ex)
        {
            throw unreachable(address, ex);
        }
    }

    static BootstrapAnswer shakeHands(
        final Socket socket, final MessageReader in, final ClusterAddress address, final BootstrapSecret token,
        final int version, final int formats, final byte[] clientNonce) throws IOException, BusyException
    {
        final OutputStream out = socket.getOutputStream();
        final byte[] hello = BootstrapDescriptor.hello(version, formats, clientNonce, token.userName());
        out.write(hello);
        final ByteBuffer challenge = read(in, BootstrapDescriptor.HELLO_LENGTH_BYTES);
        if (BootstrapDescriptor.MAGIC != challenge.getInt(0))
        {
            throw failure(Reason.VERSION_MISMATCH, address, "who listens there is no cluster", null);
        }
        // By the numbers, not by the server's text: what a cluster of another version says there is not known.
        final int serverVersion = challenge.getShort(BootstrapDescriptor.VERSION_OFFSET) & 0xFFFF;
        final int serverFormats = challenge.getInt(BootstrapDescriptor.FORMATS_OFFSET);
        if (serverVersion != version || serverFormats != formats)
        {
            throw failure(Reason.VERSION_MISMATCH, address,
                BootstrapDescriptor.mismatch(serverVersion, serverFormats, version, formats), null);
        }
        final int status = challenge.getShort(BootstrapDescriptor.STATUS_OFFSET);
        if (BootstrapDescriptor.STATUS_OK != status)
        {
            final int length = challenge.getInt(BootstrapDescriptor.TEXT_LENGTH_OFFSET);
            final String why = text(read(in, checked(address, length, BootstrapDescriptor.MAX_TEXT_BYTES)), 0);
            if (BootstrapDescriptor.STATUS_TLS == status)
            {
                throw failure(Reason.UNTRUSTED, address, why, null);
            }
            if (BootstrapDescriptor.STATUS_BUSY == status)
            {
                throw busy(address, why, challenge.getInt(BootstrapDescriptor.RETRY_DELAY_OFFSET));
            }
            throw failure(Reason.VERSION_MISMATCH, address, why, null);
        }
        final int saltLength = challenge.getInt(BootstrapDescriptor.TEXT_LENGTH_OFFSET);
        final byte[] salt = in.read(checked(address, saltLength, BootstrapDescriptor.MAX_TEXT_BYTES));
        final BootstrapSecret.Keys keys = keys(address, token, salt);
        final byte[] proof = keys.proof(hello, challenge.array(), salt);
        out.write(proof);
        in.startMessage();
        return readAnswer(in, address, keys, hello, challenge.array(), salt, proof);
    }

    private static BootstrapSecret.Keys keys(
        final ClusterAddress address, final BootstrapSecret secret, final byte[] salt)
    {
        try
        {
            return secret.keys(salt);
        }
        catch (final IllegalArgumentException ex)
        {
            throw failure(Reason.VERSION_MISMATCH, address, ex.getMessage(), ex);
        }
    }

    private static BootstrapAnswer readAnswer(
        final MessageReader in, final ClusterAddress address, final BootstrapSecret.Keys keys,
        final byte[]... messages) throws IOException, BusyException
    {
        final byte[] head = read(in, BootstrapDescriptor.ANSWER_PROOF_OFFSET).array();
        final int length = checked(address,
            BootstrapDescriptor.wrap(head).getInt(BootstrapDescriptor.ANSWER_LENGTH_OFFSET), MAX_ANSWER_BYTES);
        final byte[] whole = Arrays.copyOf(head, head.length + length);
        System.arraycopy(in.read(length), 0, whole, head.length, length);
        final ByteBuffer answer = BootstrapDescriptor.wrap(whole);
        if (BootstrapDescriptor.STATUS_BUSY == answer.getShort(0))
        {
            throw busy(address, text(answer, head.length), HANG_UP_DELAY_MS);
        }
        if (BootstrapDescriptor.STATUS_OK != answer.getShort(0))
        {
            throw failure(Reason.WRONG_TOKEN, address, text(answer, head.length), null);
        }
        if (whole.length < BootstrapDescriptor.ANSWER_FABRIC_OFFSET)
        {
            throw failure(Reason.VERSION_MISMATCH, address, "its answer is too short", null);
        }
        final byte[] serverProof = BootstrapDescriptor.takeProof(whole);
        final byte[][] all = Arrays.copyOf(messages, messages.length + 1);
        all[messages.length] = whole;
        if (!keys.isServerProof(serverProof, all))
        {
            throw failure(Reason.WRONG_TOKEN, address, "who listens there does not have the token, or somebody " +
                "between has changed what was sent", null);
        }
        return decoded(address, answer).with(keys.ticket(whole, messages));
    }

    private static BootstrapAnswer decoded(final ClusterAddress address, final ByteBuffer answer)
    {
        try
        {
            return BootstrapDescriptor.decodeAnswer(answer);
        }
        catch (final IllegalArgumentException ex)
        {
            throw failure(Reason.VERSION_MISMATCH, address, ex.getMessage(), ex);
        }
    }

    private static ByteBuffer read(final MessageReader in, final int length) throws IOException
    {
        return BootstrapDescriptor.wrap(in.read(length));
    }

    private static int checked(final ClusterAddress address, final int length, final int most)
    {
        if (length < 0 || length > most)
        {
            throw failure(Reason.VERSION_MISMATCH, address, "it says something of " + length + " bytes", null);
        }
        return length;
    }

    private static String text(final ByteBuffer bytes, final int offset)
    {
        // One line, whoever it is that says it.
        return new String(bytes.array(), offset, bytes.capacity() - offset, StandardCharsets.UTF_8)
            .replaceAll("\\p{Cntrl}+", " ").strip();
    }

    private static BootstrapException failure(
        final Reason reason, final ClusterAddress address, final String why, final Throwable cause)
    {
        return new BootstrapException(reason, "cannot join the cluster at " + address + ": " + why, cause);
    }
}
