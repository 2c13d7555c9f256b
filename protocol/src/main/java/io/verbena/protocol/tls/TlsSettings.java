package io.verbena.protocol.tls;

import io.verbena.raas.identity.PeerIdentity;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;

import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;

/**
 * TLS 1.3 of one side of the handshake at a cluster's address: its own certificate, and whose it takes. Immutable; any
 * thread.
 */
public final class TlsSettings
{
    /** Names of the options, which are those of the environment and of the API as well. */
    public static final String CERTIFICATE_OPTION = "--tls-cert";
    /** Of the key. */
    public static final String KEY_OPTION = "--tls-key";
    /** Of the authorities. */
    public static final String AUTHORITIES_OPTION = "--tls-ca";
    /** Length of the fingerprint of an authority. */
    public static final int FINGERPRINT_BYTES = 32;
    private static final String[] VERSIONS = {"TLSv1.3"};

    private final PemFiles.Identity identity;
    private final PeerTrust trust;
    private final boolean isByName;
    private volatile SSLContext context;

    private TlsSettings(final PemFiles.Identity identity, final PeerTrust trust, final boolean isByName)
    {
        this.identity = identity;
        this.trust = trust;
        this.isByName = isByName;
    }

    /**
     * Of a meta server, which has a certificate.
     *
     * @param certificate its own, or a chain that begins with it.
     * @param key         of the certificate, mode 0600.
     * @param authorities of which each client and node needs a certificate; null: they need none.
     * @return the settings.
     * @throws TlsException when a file cannot be used.
     */
    public static TlsSettings ofServer(final Path certificate, final Path key, final Path authorities)
    {
        if (null == certificate || null == key)
        {
            throw new TlsException("TLS needs both " + CERTIFICATE_OPTION + " and " + KEY_OPTION + "; " +
                AUTHORITIES_OPTION + " is for use with them", null);
        }
        return new TlsSettings(identity(certificate, key), null == authorities ? null : trust(authorities), false);
    }

    /**
     * Of a node or client: of which authority the meta server's certificate must be, and for the host that was asked.
     *
     * @param authorities that are trusted.
     * @param certificate its own, for a meta server that asks for one; or null.
     * @param key         of the certificate, mode 0600; or null.
     * @return the settings.
     * @throws TlsException when a file cannot be used.
     */
    public static TlsSettings ofClient(final Path authorities, final Path certificate, final Path key)
    {
        return new TlsSettings(optional(certificate, key), trust(authorities), true);
    }

    /**
     * Of a node or client that knows the fingerprint of the cluster's own authority, whatever the name of the host.
     *
     * @param fingerprint SHA-256 of the certificate of the authority, 32 bytes.
     * @return the settings.
     */
    public static TlsSettings pinned(final byte[] fingerprint)
    {
        return new TlsSettings(null, PeerTrust.pinned(fingerprint.clone()), false);
    }

    /**
     * Of a node or client, as the options say.
     *
     * @param pinned      that of the token file; null where it names no authority.
     * @param authorities that are trusted instead; or null.
     * @param certificate its own; or null.
     * @param key         of the certificate; or null.
     * @return the settings; null: no TLS.
     * @throws TlsException when a file cannot be used, or one option lacks another.
     */
    public static TlsSettings ofPeer(
        final TlsSettings pinned, final Path authorities, final Path certificate, final Path key)
    {
        if (null != authorities)
        {
            return ofClient(authorities, certificate, key);
        }
        if (null != pinned)
        {
            return pinned.withIdentity(certificate, key);
        }
        if (null != certificate || null != key)
        {
            throw new TlsException(CERTIFICATE_OPTION + " and " + KEY_OPTION + " are for TLS: give " +
                AUTHORITIES_OPTION + " as well, the authority of the meta server", null);
        }
        return null;
    }

    /**
     * The same with a certificate of its own.
     *
     * @param certificate of this side; null: none.
     * @param key         of the certificate.
     * @return the settings.
     * @throws TlsException when a file cannot be used.
     */
    TlsSettings withIdentity(final Path certificate, final Path key)
    {
        return new TlsSettings(optional(certificate, key), trust, isByName);
    }

    /**
     * @param certificate of an authority.
     * @return its fingerprint, SHA-256.
     */
    public static byte[] fingerprint(final X509Certificate certificate)
    {
        return PeerTrust.fingerprint(certificate);
    }

    /**
     * @param file with one certificate, of a node or client, as PEM; a key in it is not looked at.
     * @return the certificate.
     * @throws TlsException when the file cannot be used.
     */
    public static X509Certificate certificate(final Path file)
    {
        return PemFiles.authorities(CERTIFICATE_OPTION, file).getFirst();
    }

    /**
     * @param file with the certificate of one authority.
     * @return its fingerprint, SHA-256.
     * @throws TlsException when the file cannot be used.
     */
    public static byte[] authority(final Path file)
    {
        return fingerprint(PemFiles.authorities(AUTHORITIES_OPTION, file).getFirst());
    }

    private static PemFiles.Identity optional(final Path certificate, final Path key)
    {
        if (null == certificate != (null == key))
        {
            throw new TlsException("a certificate needs its key: give both " + CERTIFICATE_OPTION + " and " +
                KEY_OPTION + ", or none", null);
        }
        return null == certificate ? null : identity(certificate, key);
    }

    private static PemFiles.Identity identity(final Path certificate, final Path key)
    {
        PemFiles.requireOwnerOnly(KEY_OPTION, key);
        return PemFiles.identity(CERTIFICATE_OPTION, certificate, KEY_OPTION, key);
    }

    private static PeerTrust trust(final Path authorities)
    {
        return PeerTrust.of(PemFiles.authorities(AUTHORITIES_OPTION, authorities),
            "those in " + AUTHORITIES_OPTION + ' ' + authorities);
    }

    /**
     * Puts TLS over a connection, as the side that asked for it.
     *
     * @param connection that is open; closed by its owner, after what is returned.
     * @param host       that was asked for.
     * @param port       there.
     * @return the socket; its handshake has not begun.
     * @throws IOException when it cannot be made.
     */
    public SSLSocket ofClient(final Socket connection, final String host, final int port) throws IOException
    {
        final String name = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        final SSLSocket socket =
            (SSLSocket)context().getSocketFactory().createSocket(connection, name, port, false);
        final SSLParameters parameters = socket.getSSLParameters();
        parameters.setProtocols(VERSIONS);
        if (isByName)
        {
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
        }
        socket.setSSLParameters(parameters);
        return socket;
    }

    /**
     * Puts TLS over a connection, as the side that was asked.
     *
     * @param connection that was accepted; closed by its owner, after what is returned.
     * @param read       what has been read from it already.
     * @return the socket; its handshake has not begun.
     * @throws IOException when it cannot be made.
     */
    public SSLSocket ofServer(final Socket connection, final byte[] read) throws IOException
    {
        final SSLSocket socket = (SSLSocket)context().getSocketFactory().createSocket(
            connection, new ByteArrayInputStream(read), false);
        final SSLParameters parameters = socket.getSSLParameters();
        parameters.setProtocols(VERSIONS);
        parameters.setNeedClientAuth(null != trust);
        socket.setSSLParameters(parameters);
        return socket;
    }

    /**
     * Whether this meta server goes by roles: its own certificate names some, and it asks its peers for theirs.
     *
     * @return whether those of each peer count.
     */
    public boolean bindsRoles()
    {
        return null != trust && 0 != ownRoles();
    }

    private int ownRoles()
    {
        return null == identity ? 0 : CertificateRole.of(identity.chain()[0]);
    }

    /**
     * @param secured socket of this class, after the handshake.
     * @return the set of {@link CertificateRole} that the certificate of the other side names; 0: none.
     * @throws IOException when it has none.
     */
    public static int rolesOf(final SSLSocket secured) throws IOException
    {
        return CertificateRole.of(certificateOf(secured));
    }

    private static X509Certificate certificateOf(final SSLSocket secured) throws IOException
    {
        return (X509Certificate)secured.getSession().getPeerCertificates()[0];
    }

    /** @return whether each peer needs a certificate. */
    public boolean asksForCertificates()
    {
        return null != trust;
    }

    /**
     * @param secured socket of this class, after the handshake.
     * @return as who the holder of the other side's certificate joins; with {@link PeerIdentity#joiningRoles()} 0 where
     *     that names none.
     * @throws IOException when it has none.
     */
    public static PeerIdentity joiningOf(final SSLSocket secured) throws IOException
    {
        final X509Certificate certificate = certificateOf(secured);
        return PeerIdentity.joining(
            RevokedCertificate.number(RevokedCertificate.fingerprint(certificate)), CertificateRole.of(certificate));
    }

    /**
     * Refuses a server whose certificate is for another role, as one that was stolen from a node: where this side, or
     * the other one, names any.
     *
     * @param secured socket of a client, after the handshake.
     * @throws IOException when it may not be the meta server.
     */
    public void requireMetaServer(final SSLSocket secured) throws IOException
    {
        final int roles = rolesOf(secured);
        if (0 != (roles | ownRoles()) && !CertificateRole.META.isIn(roles))
        {
            throw new SSLException("refused", new PeerTrust.RefusedCertificateException("certificate " +
                secured.getSession().getPeerPrincipal().getName() + " is not one of a meta server: it has roles " +
                CertificateRole.text(roles) + "; issue one with " + CertificateRole.META.uri(), null));
        }
    }

    /**
     * Loads what a handshake needs, which takes a process that has just started some tenths of a second: before there
     * is a connection on which another one waits. Slow the first time, then fast.
     *
     * @throws IOException when this JDK cannot use the key.
     */
    public void prepare() throws IOException
    {
        if (null == context)
        {
            final SSLEngine engine = context().createSSLEngine();
            engine.setUseClientMode(true);
            engine.beginHandshake();
            engine.wrap(ByteBuffer.allocate(0), ByteBuffer.allocate(engine.getSession().getPacketBufferSize()));
        }
    }

    /** Made when it is needed first: many who read a token shake no hands. */
    private SSLContext context() throws IOException
    {
        SSLContext made = context;
        if (null == made)
        {
            try
            {
                made = SSLContext.getInstance(VERSIONS[0]);
                made.init(keys(), null == trust ? new TrustManager[0] : new TrustManager[]{trust}, null);
            }
            catch (final GeneralSecurityException ex)
            {
                throw new SSLException("this JDK has no TLS 1.3 with this key: " + ex.getMessage(), ex);
            }
            context = made;
        }
        return made;
    }

    private KeyManager[] keys() throws IOException, GeneralSecurityException
    {
        if (null == identity)
        {
            return new KeyManager[0];
        }
        final KeyStore store = KeyStore.getInstance("JKS");
        store.load(null, null);
        // In memory only: the password keeps nothing from anybody.
        store.setKeyEntry("own", identity.key(), new char[0], identity.chain());
        final KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
        factory.init(store, new char[0]);
        return factory.getKeyManagers();
    }

    /**
     * @param failure of a socket of this class.
     * @return whether the other side has hung up, for whatever reason.
     */
    public static boolean isHangUp(final SSLException failure)
    {
        return failure.getCause() instanceof EOFException || failure.getCause() instanceof SocketException;
    }

    /**
     * Why a handshake failed, for people.
     *
     * @param failure of a socket of this class.
     * @return one line, with the remedy where there is one.
     */
    public static String why(final SSLException failure)
    {
        for (Throwable cause = failure; null != cause; cause = cause.getCause())
        {
            if (cause instanceof PeerTrust.RefusedCertificateException)
            {
                return cause.getMessage();
            }
        }
        final String message = String.valueOf(failure.getMessage()).lines().findFirst().orElse("no reason");
        if (message.contains("certificate_required") || message.contains("Empty client certificate chain"))
        {
            return "a certificate of the meta server's authority is needed: give one with " + CERTIFICATE_OPTION +
                " and " + KEY_OPTION;
        }
        if (message.contains("Unsupported or unrecognized SSL message"))
        {
            return "who listens there speaks no TLS: leave out " + AUTHORITIES_OPTION +
                ", give the token file of the cluster as it is now, or start its meta server with " +
                CERTIFICATE_OPTION;
        }
        if (message.contains("alert: certificate_") || message.contains("alert: bad_certificate") ||
            message.contains("alert: unknown_ca"))
        {
            return "the other side does not take this certificate (" + message +
                "): give one of its authority, that is valid, with " + CERTIFICATE_OPTION;
        }
        return "no TLS: " + message;
    }

    @Override
    public String toString()
    {
        return "TlsSettings{" + (null == identity ? "no certificate" : identity.chain()[0].getSubjectX500Principal()) +
            ", trust=" + trust + '}';
    }
}
