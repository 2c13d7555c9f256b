package io.verbena.resp;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** TLS of the port, with the JDK's as the other side. */
@Timeout(90)
class RespTlsTest
{
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    static Path folder;
    private final MapEndpoint endpoint = new MapEndpoint(7);
    private RespServer server;

    @BeforeAll
    static void makeCertificates() throws Exception
    {
        for (final String name : List.of("server", "client", "stranger"))
        {
            final Path store = folder.resolve(name + ".p12");
            final Process keytool = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair", "-alias", name,
                "-keyalg", "EC", "-dname", "CN=" + name, "-ext", "san=ip:127.0.0.1", "-validity", "2", "-storetype",
                "PKCS12", "-keystore", store.toString(), "-storepass", new String(PASSWORD))
                .redirectErrorStream(true).redirectOutput(folder.resolve(name + ".log").toFile()).start();
            assertThat(keytool.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(keytool.exitValue()).as(Files.readString(folder.resolve(name + ".log"))).isZero();
            pem(name + ".crt", "CERTIFICATE", store(name).getCertificate(name).getEncoded());
            pem(name + ".key", "PRIVATE KEY", store(name).getKey(name, PASSWORD).getEncoded());
        }
    }

    private static void pem(final String file, final String what, final byte[] bytes) throws IOException
    {
        Files.writeString(folder.resolve(file), "-----BEGIN " + what + "-----\n" +
            Base64.getMimeEncoder().encodeToString(bytes) + "\n-----END " + what + "-----\n");
    }

    private static KeyStore store(final String name) throws IOException, GeneralSecurityException
    {
        final KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(folder.resolve(name + ".p12")))
        {
            store.load(in, PASSWORD);
        }
        return store;
    }

    @AfterEach
    void close()
    {
        if (null != server)
        {
            server.close();
        }
        endpoint.close();
    }

    private RespServer open(final String certificate, final String key, final String authorities)
    {
        server = RespServer.open(new RespConfiguration().port(0).tls(folder.resolve(certificate), folder.resolve(key),
            null == authorities ? null : folder.resolve(authorities)), endpoint, SystemNanoClock.INSTANCE, () -> { });
        return server;
    }

    /** Trusts the server; with the certificate of somebody, or none. */
    private SSLSocket connect(final String somebody) throws IOException, GeneralSecurityException
    {
        final TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
        final KeyStore servers = KeyStore.getInstance("PKCS12");
        servers.load(null, null);
        servers.setCertificateEntry("server", store("server").getCertificate("server"));
        trusted.init(servers);
        final KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
        if (null != somebody)
        {
            own.init(store(somebody), PASSWORD);
        }
        final SSLContext context = SSLContext.getInstance("TLS");
        context.init(null == somebody ? null : own.getKeyManagers(), trusted.getTrustManagers(), null);
        final SSLSocket socket =
            (SSLSocket)context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), server.port());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static void send(final Socket socket, final String bytes) throws IOException
    {
        socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static void assertReceives(final Socket socket, final String expected) throws IOException
    {
        assertThat(new String(socket.getInputStream().readNBytes(expected.length()), StandardCharsets.ISO_8859_1))
            .isEqualTo(expected);
    }

    @Test
    void shouldServePipelinesOverTls() throws Exception
    {
        open("server.crt", "server.key", null);
        try (SSLSocket socket = connect(null))
        {
            final StringBuilder sent = new StringBuilder();
            final StringBuilder expected = new StringBuilder();
            for (int i = 0; i < 2_000; i++)
            {
                sent.append(RawClient.command("SET k" + i % 7 + " <" + (i + 1) + ">"))
                    .append(RawClient.command("STRLEN k" + i % 7));
                expected.append("+OK\r\n:").append(i + 1).append("\r\n");
            }
            final Thread sender = Thread.ofVirtual().start(() ->
            {
                try
                {
                    send(socket, sent.toString());
                }
                catch (final IOException ignore)
                {
                    // The replies do not come then, which fails the test.
                }
            });
            assertReceives(socket, expected.toString());
            sender.join();
            assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.3");
        }
        assertThat(server.tlsFailures()).isZero();
    }

    @Test
    void shouldServeNobodyWithoutTls() throws Exception
    {
        open("server.crt", "server.key", null);
        for (int i = 1; i <= 3; i++)
        {
            try (RawClient plain = new RawClient(server.port()))
            {
                plain.send(RawClient.command("PING"));
                final byte[] received = plain.socket().getInputStream().readAllBytes();
                assertThat(new String(received, StandardCharsets.ISO_8859_1)).doesNotContain("PONG");
            }
            assertThat(server.tlsFailures()).isEqualTo(i);
        }
        try (SSLSocket socket = connect(null))
        {
            send(socket, RawClient.command("PING"));
            assertReceives(socket, "+PONG\r\n");
        }
    }

    @Test
    void shouldAskClientsForACertificateOfTheAuthorities() throws Exception
    {
        open("server.crt", "server.key", "client.crt");
        try (SSLSocket socket = connect("client"))
        {
            send(socket, RawClient.command("PING"));
            assertReceives(socket, "+PONG\r\n");
        }
        for (final String somebody : new String[]{null, "stranger"})
        {
            try (SSLSocket socket = connect(somebody))
            {
                // In TLS 1.3 a client learns of it with the first bytes that it reads.
                assertThatThrownBy(() ->
                {
                    send(socket, RawClient.command("PING"));
                    assertReceives(socket, "+PONG\r\n");
                }).as("%s", somebody).isInstanceOf(IOException.class);
            }
        }
        assertThat(server.tlsFailures()).isEqualTo(2);
    }

    @Test
    void shouldServeOthersWhileOneDoesNotShakeHands() throws Exception
    {
        open("server.crt", "server.key", null);
        final List<Socket> silent = new ArrayList<>();
        for (int i = 0; i < 20; i++)
        {
            silent.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
        }
        try (SSLSocket socket = connect(null))
        {
            send(socket, RawClient.command("PING"));
            assertReceives(socket, "+PONG\r\n");
        }
        for (final Socket socket : silent)
        {
            socket.close();
        }
    }

    @Test
    void shouldSayInOneLineWhyFilesCannotBeUsed() throws Exception
    {
        assertRefused("no file that can be read", "none.crt", "server.key", null);
        assertRefused("--resp-tls-key", "server.crt", "none.key", null);
        assertRefused("--resp-tls-ca", "server.crt", "server.key", "none.crt");
        Files.writeString(folder.resolve("text"), "no certificate\n");
        assertRefused("PEM", "text", "server.key", null);
        assertRefused("openssl pkcs8", "server.crt", "text", null);
        assertRefused("--resp-tls-ca", "server.crt", "server.key", "text");
        assertRefused("is not the key of --resp-tls-certificate", "server.crt", "client.key", null);
    }

    private void assertRefused(
        final String text, final String certificate, final String key, final String authorities)
    {
        assertThatThrownBy(() -> open(certificate, key, authorities)).isInstanceOf(RespException.class)
            .hasMessageContaining(text).extracting(Throwable::getMessage).asString().doesNotContain("\n");
    }
}
