package io.verbena.protocol.tls;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Which certificates of a peer are taken: those of given authorities, or those of the one authority whose SHA-256 is
 * known, which the peer sends with its own. Refuses with a line that says why. Thread-safe.
 */
final class PeerTrust extends X509ExtendedTrustManager
{
    /** A certificate was refused; the message is one line. */
    static final class RefusedCertificateException extends CertificateException
    {
        private static final long serialVersionUID = 1L;

        RefusedCertificateException(final String message, final Throwable cause)
        {
            super(message, cause);
        }
    }

    private final List<X509Certificate> authorities;
    private final byte[] pinned;
    private final String named;

    private PeerTrust(final List<X509Certificate> authorities, final byte[] pinned, final String named)
    {
        this.authorities = authorities;
        this.pinned = pinned;
        this.named = named;
    }

    /**
     * @param authorities that are trusted.
     * @param named       what names them, for people.
     * @return trust in these.
     */
    static PeerTrust of(final List<X509Certificate> authorities, final String named)
    {
        return new PeerTrust(authorities, null, named);
    }

    /**
     * @param fingerprint SHA-256 of the certificate of the authority.
     * @return trust in this one.
     */
    static PeerTrust pinned(final byte[] fingerprint)
    {
        return new PeerTrust(List.of(), fingerprint, "the one that the token file names, sha256:" +
            HexFormat.of().formatHex(fingerprint));
    }

    static byte[] fingerprint(final X509Certificate certificate)
    {
        return digest(certificate, false);
    }

    /** @param isOfSigned whether only of what the authority has signed, else with the signature. */
    static byte[] digest(final X509Certificate certificate, final boolean isOfSigned)
    {
        try
        {
            return MessageDigest.getInstance("SHA-256").digest(
                isOfSigned ? certificate.getTBSCertificate() : certificate.getEncoded());
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("every JDK has SHA-256", ex);
        }
    }

    private X509ExtendedTrustManager byPath(final X509Certificate[] chain) throws CertificateException
    {
        final List<X509Certificate> anchors = null == pinned ? authorities : Arrays.stream(chain)
            .filter((each) -> MessageDigest.isEqual(pinned, fingerprint(each))).toList();
        if (anchors.isEmpty())
        {
            throw notOfAuthority(chain[0], null);
        }
        try
        {
            final KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (int i = 0; i < anchors.size(); i++)
            {
                store.setCertificateEntry("authority-" + i, anchors.get(i));
            }
            final TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
            factory.init(store);
            for (final TrustManager manager : factory.getTrustManagers())
            {
                if (manager instanceof final X509ExtendedTrustManager byPath)
                {
                    return byPath;
                }
            }
            throw new IllegalStateException("PKIX has no manager of X.509");
        }
        catch (final CertificateException ex)
        {
            throw ex;
        }
        catch (final IOException | GeneralSecurityException ex)
        {
            throw new CertificateException("authorities cannot be used: " + ex.getMessage(), ex);
        }
    }

    private interface Check
    {
        void run(X509ExtendedTrustManager byPath) throws CertificateException;
    }

    private void check(final X509Certificate[] chain, final Check check) throws CertificateException
    {
        final X509Certificate own = chain[0];
        try
        {
            // Of all of them: an authority that is trusted itself is not looked at again by the path.
            for (final X509Certificate each : chain)
            {
                each.checkValidity();
            }
            check.run(byPath(chain));
        }
        catch (final CertificateExpiredException ex)
        {
            throw new RefusedCertificateException(name(own) + " expired (" + ex.getMessage() + "): make a new one", ex);
        }
        catch (final CertificateNotYetValidException ex)
        {
            throw new RefusedCertificateException(
                name(own) + " is not valid yet (" + ex.getMessage() + "): compare the clocks", ex);
        }
        catch (final RefusedCertificateException ex)
        {
            throw ex;
        }
        catch (final CertificateException ex)
        {
            throw refused(own, ex);
        }
    }

    private RefusedCertificateException refused(final X509Certificate own, final CertificateException ex)
    {
        for (Throwable cause = ex; null != cause; cause = cause.getCause())
        {
            if (cause instanceof CertPathBuilderException || cause instanceof CertPathValidatorException)
            {
                return notOfAuthority(own, ex);
            }
        }
        return new RefusedCertificateException(name(own) + " does not fit: " + ex.getMessage() +
            "; reach the cluster by a name or address that is in it, or make one for this use", ex);
    }

    private RefusedCertificateException notOfAuthority(final X509Certificate own, final Throwable cause)
    {
        return new RefusedCertificateException(name(own) + " is not of an authority that is trusted, " + named +
            ": give the one that issued it, " + own.getIssuerX500Principal().getName(), cause);
    }

    private static String name(final X509Certificate certificate)
    {
        return "certificate " + certificate.getSubjectX500Principal().getName();
    }

    @Override
    public void checkClientTrusted(final X509Certificate[] chain, final String type, final Socket socket)
        throws CertificateException
    {
        check(chain, (byPath) -> byPath.checkClientTrusted(chain, type, socket));
    }

    @Override
    public void checkServerTrusted(final X509Certificate[] chain, final String type, final Socket socket)
        throws CertificateException
    {
        check(chain, (byPath) -> byPath.checkServerTrusted(chain, type, socket));
    }

    @Override
    public void checkClientTrusted(final X509Certificate[] chain, final String type, final SSLEngine engine)
        throws CertificateException
    {
        check(chain, (byPath) -> byPath.checkClientTrusted(chain, type, engine));
    }

    @Override
    public void checkServerTrusted(final X509Certificate[] chain, final String type, final SSLEngine engine)
        throws CertificateException
    {
        check(chain, (byPath) -> byPath.checkServerTrusted(chain, type, engine));
    }

    @Override
    public void checkClientTrusted(final X509Certificate[] chain, final String type) throws CertificateException
    {
        check(chain, (byPath) -> byPath.checkClientTrusted(chain, type));
    }

    @Override
    public void checkServerTrusted(final X509Certificate[] chain, final String type) throws CertificateException
    {
        check(chain, (byPath) -> byPath.checkServerTrusted(chain, type));
    }

    @Override
    public String toString()
    {
        return named;
    }

    @Override
    public X509Certificate[] getAcceptedIssuers()
    {
        return authorities.toArray(X509Certificate[]::new);
    }
}
