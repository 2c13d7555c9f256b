package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.protocol.message.RevocationPage;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.protocol.tls.TlsException;
import io.verbena.protocol.tls.TlsSettings;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.HexFormat;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code verbena certificate}. */
@Command(
    name = "certificate",
    description = "Certificates of nodes and clients that the meta server takes no more, where --tls-ca asks for them.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
        CertificateCommand.RevokeCommand.class,
        CertificateCommand.RestoreCommand.class,
        CertificateCommand.ListCommand.class})
public final class CertificateCommand implements Runnable
{
    private static final Pattern FINGERPRINT =
        Pattern.compile("(?:sha256:)?([0-9a-fA-F]{" + 2 * TlsSettings.FINGERPRINT_BYTES + "})");

    @Spec
    private CommandSpec spec;

    @Override
    public void run()
    {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    private static RevokedCertificate certificate(final String given)
    {
        final Matcher fingerprint = FINGERPRINT.matcher(given);
        if (fingerprint.matches())
        {
            return new RevokedCertificate(HexFormat.of().parseHex(fingerprint.group(1)), "");
        }
        try
        {
            final X509Certificate certificate = TlsSettings.certificate(Path.of(given));
            final String subject = certificate.getSubjectX500Principal().getName();
            if (certificate.getBasicConstraints() >= 0)
            {
                throw new CommandFailedException(ExitStatus.USAGE, "CERTIFICATE " + given + " is that of an " +
                    "authority: revoke those that it has issued, or take it out of the file of --tls-ca", null);
            }
            return new RevokedCertificate(RevokedCertificate.fingerprint(certificate),
                subject.getBytes(StandardCharsets.UTF_8).length > RevokedCertificate.MAX_SUBJECT_BYTES ||
                    subject.chars().anyMatch(Character::isISOControl) ? "" : subject);
        }
        catch (final TlsException ex)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "CERTIFICATE " + given +
                " is no number of 64 hexadecimal digits, and " + (Files.isReadable(Path.of(given)) ?
                ex.getMessage().replaceFirst("^--tls-cert ", "") : "no file of that name can be read"), ex);
        }
    }

    private static int change(final ClientOptions options, final String given, final boolean isRevoked)
    {
        final RevokedCertificate certificate = certificate(given);
        try (MetaCalls meta = options.openMeta())
        {
            meta.result((client) -> client.revoke(certificate, isRevoked, options.timeoutNs()));
        }
        return ExitStatus.OK;
    }

    /** {@code verbena certificate revoke}. */
    @Command(
        name = "revoke",
        description = "Take a certificate no more: no handshake with it, no registration and no change by who has " +
            "joined with it, and no lease of such a node is renewed. Whoever has the token too goes on as a client, " +
            "and a user until it has a new secret: change them then.",
        defaultValueProvider = SettingsProvider.class)
    static final class RevokeCommand implements Callable<Integer>
    {
        @Mixin
        private ClientOptions clientOptions;

        @Parameters(paramLabel = "CERTIFICATE", description = "File of it, PEM, or the digits that list prints.")
        private String certificate;

        @Override
        public Integer call()
        {
            return change(clientOptions, certificate, true);
        }
    }

    /** {@code verbena certificate restore}. */
    @Command(
        name = "restore",
        description = "Take a certificate again that was revoked, or forget one that has expired.",
        defaultValueProvider = SettingsProvider.class)
    static final class RestoreCommand implements Callable<Integer>
    {
        @Mixin
        private ClientOptions clientOptions;

        @Parameters(paramLabel = "CERTIFICATE", description = "File of it, PEM, or the digits that list prints.")
        private String certificate;

        @Override
        public Integer call()
        {
            return change(clientOptions, certificate, false);
        }
    }

    /** {@code verbena certificate list}. */
    @Command(
        name = "list",
        description = "Print certificates that were revoked.",
        defaultValueProvider = SettingsProvider.class)
    static final class ListCommand implements Callable<Integer>
    {
        @Spec
        private CommandSpec spec;

        @Mixin
        private ClientOptions clientOptions;

        @Override
        public Integer call()
        {
            final PrintWriter out = spec.commandLine().getOut();
            try (MetaCalls meta = clientOptions.openMeta())
            {
                RevocationPage page = page(meta, null);
                page.certificates().forEach(out::println);
                while (page.hasMore() && !page.certificates().isEmpty())
                {
                    page = page(meta, page.certificates().getLast());
                    page.certificates().forEach(out::println);
                }
            }
            out.flush();
            return ExitStatus.OK;
        }

        private RevocationPage page(final MetaCalls meta, final RevokedCertificate after)
        {
            return meta.result((client) -> client.revocations(after, clientOptions.timeoutNs()));
        }
    }
}
