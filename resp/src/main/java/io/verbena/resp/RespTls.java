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
import io.verbena.protocol.tls.PemFiles;
import io.verbena.protocol.tls.TlsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

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
            final PemFiles.Identity identity =
                PemFiles.identity("--resp-tls-certificate", certificate, "--resp-tls-key", key);
            final SslContextBuilder builder =
                SslContextBuilder.forServer(identity.key(), identity.chain()).sslProvider(SslProvider.JDK);
            if (null != authorities)
            {
                builder.trustManager(PemFiles.authorities("--resp-tls-ca", authorities))
                    .clientAuth(ClientAuth.REQUIRE);
            }
            return new RespTls(builder.build(), nanoTime);
        }
        catch (final TlsException ex)
        {
            throw new RespException(ex.getMessage(), ex);
        }
        catch (final SSLException ex)
        {
            throw new RespException("--resp-tls-certificate " + certificate + " and --resp-tls-key " + key +
                " cannot be used: " + ex.getMessage(), ex);
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
