package io.verbena.meta.raft;

import io.verbena.certificates.CertificateAuthority;
import io.verbena.certificates.IssuedCertificate;

import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.grpc.GrpcTlsConfig;
import org.apache.ratis.thirdparty.io.netty.handler.ssl.SslProvider;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * TLS 1.3 between the members of a group, and from who administers them, in both directions. Each process makes a key
 * of its own and a certificate that it signs itself, whose name is what the group's secret says of the key
 * ({@link GroupKey#voucher}): the handshake shows who has the key, and the name that who has it has the secret. Nothing
 * is written to a file, and neither clocks nor names of hosts matter. Stateless.
 */
final class MemberTls
{
    private static final String VERSION = "TLSv1.3";
    private static final String NAME_PREFIX = "CN=";
    /** Nobody looks at it: a certificate is as good as its process. */
    private static final Duration VALIDITY = Duration.ofDays(36_500);

    private MemberTls()
    {
    }

    /**
     * @param key of the group.
     * @return what the library takes for servers and clients of the group.
     */
    static Parameters parameters(final GroupKey key)
    {
        final Parameters parameters = new Parameters();
        final IssuedCertificate own = CertificateAuthority.selfSigned(
            key::voucher, Instant.EPOCH, Instant.EPOCH.plus(VALIDITY));
        GrpcConfigKeys.TLS.setConf(parameters, configuration(own, new MemberTrust(key)));
        return parameters;
    }

    /** Of a process with any certificate, right or wrong. */
    static GrpcTlsConfig configuration(final IssuedCertificate own, final X509ExtendedTrustManager trust)
    {
        try
        {
            final KeyStore store = KeyStore.getInstance("JKS");
            store.load(null, null);
            // In memory only: the password keeps nothing from anybody.
            store.setKeyEntry("own", own.key(), new char[0], own.chain().toArray(X509Certificate[]::new));
            final KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
            factory.init(store, new char[0]);
            final GrpcTlsConfig.Builder builder = GrpcTlsConfig.newBuilder();
            builder.setKeyManager(factory.getKeyManagers()[0]);
            builder.setTrustManager(trust);
            builder.setMutualTls(true);
            builder.setSslProvider(SslProvider.JDK); // the other one unpacks a library to a temporary folder
            builder.setProtocols(VERSION);
            return builder.build();
        }
        catch (final IOException | GeneralSecurityException ex)
        {
            throw new IllegalStateException("this JDK has no " + VERSION + ": " + ex.getMessage(), ex);
        }
    }

    /** Takes certificates whose name vouches for their key. */
    static final class MemberTrust extends X509ExtendedTrustManager
    {
        private final GroupKey key;

        MemberTrust(final GroupKey key)
        {
            this.key = key;
        }

        private void check(final X509Certificate[] chain) throws CertificateException
        {
            final X509Certificate own = chain[0];
            final byte[] expected =
                (NAME_PREFIX + key.voucher(own.getPublicKey())).getBytes(StandardCharsets.US_ASCII);
            final byte[] name = own.getSubjectX500Principal().getName().getBytes(StandardCharsets.UTF_8);
            if (!MessageDigest.isEqual(expected, name))
            {
                throw new CertificateException("not a member of this group: it has another token");
            }
        }

        @Override
        public void checkClientTrusted(final X509Certificate[] chain, final String type) throws CertificateException
        {
            check(chain);
        }

        @Override
        public void checkServerTrusted(final X509Certificate[] chain, final String type) throws CertificateException
        {
            check(chain);
        }

        @Override
        public void checkClientTrusted(final X509Certificate[] chain, final String type, final Socket socket)
            throws CertificateException
        {
            check(chain);
        }

        @Override
        public void checkServerTrusted(final X509Certificate[] chain, final String type, final Socket socket)
            throws CertificateException
        {
            check(chain);
        }

        @Override
        public void checkClientTrusted(final X509Certificate[] chain, final String type, final SSLEngine engine)
            throws CertificateException
        {
            check(chain);
        }

        @Override
        public void checkServerTrusted(final X509Certificate[] chain, final String type, final SSLEngine engine)
            throws CertificateException
        {
            check(chain);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers()
        {
            return new X509Certificate[0];
        }
    }
}
