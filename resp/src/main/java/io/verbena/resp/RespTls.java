package io.verbena.resp;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.ssl.SslProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.net.ssl.SSLException;

/**
 * TLS of the port, versions 1.2 and 1.3, by the JDK's implementation. Handshakes compute on threads of their own: one
 * takes a millisecond, for which the thread of the node would serve nobody. Thread-safe; needs no closing.
 */
@Sharable
final class RespTls extends ChannelInboundHandlerAdapter
{
    private static final Logger LOGGER = LoggerFactory.getLogger(RespTls.class);
    /** Anybody can make handshakes fail: a line in the log for each would fill it. */
    private static final long LOG_PAUSE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final Pattern KEY =
        Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");
    private static final String NO_CHAIN = "a certificate is needed, or a chain that begins with it, PEM";
    private static final String NO_KEY = "the private key of the certificate is needed: PEM, PKCS#8, without a " +
        "password; 'openssl pkcs8 -topk8 -nocrypt' makes one";

    private final SslContext context;
    private final LongSupplier nanoTime;
    private final AtomicLong failures = new AtomicLong();
    private final AtomicLong loggedNs;

    private RespTls(final SslContext context, final LongSupplier nanoTime)
    {
        this.context = context;
        this.nanoTime = nanoTime;
        loggedNs = new AtomicLong(nanoTime.getAsLong() - LOG_PAUSE_NS);
    }

    /**
     * Reads the files.
     *
     * @param configuration that names them.
     * @param nanoTime      for the pauses between lines of the log.
     * @return null when the port is served without TLS.
     * @throws RespException when a file cannot be read or does not hold what it should.
     */
    static RespTls of(final RespConfiguration configuration, final LongSupplier nanoTime)
    {
        final Path certificate = configuration.tlsCertificate();
        final Path key = configuration.tlsKey();
        final Path authorities = configuration.tlsClientAuthorities();
        if (null == certificate)
        {
            return null;
        }
        try
        {
            final SslContextBuilder builder = builder(certificate, key).sslProvider(SslProvider.JDK);
            if (null != authorities)
            {
                trust(builder, authorities);
            }
            return new RespTls(builder.build(), nanoTime);
        }
        catch (final SSLException ex)
        {
            throw new RespException("--resp-tls-certificate " + certificate + " and --resp-tls-key " + key +
                " cannot be used: " + ex.getMessage(), ex);
        }
    }

    private static SslContextBuilder builder(final Path certificate, final Path key)
    {
        check("--resp-tls-certificate", certificate);
        check("--resp-tls-key", key);
        final X509Certificate[] chain = chain(certificate);
        final PrivateKey secret = key(key, chain[0]);
        if (!belongTogether(secret, chain[0]))
        {
            throw new RespException("--resp-tls-key " + key + " is not the key of --resp-tls-certificate " +
                certificate + ": give the two that were made together", null);
        }
        return SslContextBuilder.forServer(secret, chain);
    }

    private static X509Certificate[] chain(final Path file)
    {
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
            throw new RespException("--resp-tls-certificate " + file + ": " + NO_CHAIN, ex);
        }
        throw new RespException("--resp-tls-certificate " + file + ": " + NO_CHAIN, null);
    }

    private static PrivateKey key(final Path file, final X509Certificate certificate)
    {
        try
        {
            final Matcher pem = KEY.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
            if (pem.find())
            {
                return KeyFactory.getInstance(certificate.getPublicKey().getAlgorithm())
                    .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1))));
            }
        }
        catch (final IOException | GeneralSecurityException | IllegalArgumentException ex)
        {
            throw new RespException("--resp-tls-key " + file + ": " + NO_KEY, ex);
        }
        throw new RespException("--resp-tls-key " + file + ": " + NO_KEY, null);
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

    private static void trust(final SslContextBuilder builder, final Path authorities)
    {
        check("--resp-tls-ca", authorities);
        try
        {
            builder.trustManager(authorities.toFile()).clientAuth(ClientAuth.REQUIRE);
        }
        catch (final IllegalArgumentException ex)
        {
            throw new RespException("--resp-tls-ca " + authorities + ": certificates are needed, PEM", ex);
        }
    }

    private static void check(final String option, final Path file)
    {
        if (!Files.isReadable(file) || Files.isDirectory(file))
        {
            throw new RespException(option + " " + file + ": no file that can be read", null);
        }
    }

    /** Puts TLS in front of a new connection. */
    void begin(final ChannelPipeline pipeline, final ByteBufAllocator allocator)
    {
        pipeline.addLast(context.newHandler(allocator, Thread::startVirtualThread), this);
    }

    /** @return handshakes that failed so far. */
    long failures()
    {
        return failures.get();
    }

    @Override
    public void userEventTriggered(final ChannelHandlerContext connection, final Object event)
    {
        if (event instanceof final SslHandshakeCompletionEvent handshake && !handshake.isSuccess())
        {
            failures.incrementAndGet();
            final long nowNs = nanoTime.getAsLong();
            final long earlierNs = loggedNs.get();
            if (nowNs - earlierNs >= LOG_PAUSE_NS && loggedNs.compareAndSet(earlierNs, nowNs))
            {
                LOGGER.warn("no TLS with {}: {} ({} such connections so far)", connection.channel().remoteAddress(),
                    String.valueOf(handshake.cause().getMessage()).lines().findFirst().orElse("no reason"), failures);
            }
        }
        connection.fireUserEventTriggered(event);
    }
}
