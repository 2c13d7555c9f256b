package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserQuota;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.util.List;
import java.util.concurrent.Callable;

/** {@code verbena user quota}. */
@Command(
    name = "quota",
    description = "Limit what a user may ask of each compute node, and the tables it may have; without LIMIT print " +
        "it. What is over a limit is refused, with the time to try again.",
    defaultValueProvider = SettingsProvider.class)
final class UserQuotaCommand implements Callable<Integer>
{
    private static final String NOTHING = "none";

    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Parameters(index = "0", paramLabel = "NAME", description = "Of the user.")
    private String name;

    @Parameters(index = "1..*", arity = "0..*", paramLabel = "LIMIT", description = "operations=N and bytes=N, a " +
        "second; outstanding=N, requests at one time; scans=N, of these; tables=N, with the right admin, to make one " +
        "more. N may be 'none'; 'none' alone takes all away.")
    private List<String> limits = List.of();

    @Override
    public Integer call()
    {
        UserCalls.requireName(name);
        changed(UserQuota.NONE, limits); // refuses what is no limit before it connects
        try (MetaCalls meta = clientOptions.openMeta())
        {
            final User user = UserCalls.user(meta, name, clientOptions.timeoutNs());
            if (limits.isEmpty())
            {
                spec.commandLine().getOut().println(name + ": " + user.quota());
                spec.commandLine().getOut().flush();
            }
            else
            {
                UserCalls.put(meta, user.withQuota(changed(user.quota(), limits)), clientOptions.timeoutNs());
            }
        }
        return ExitStatus.OK;
    }

    private static UserQuota changed(final UserQuota before, final List<String> limits)
    {
        UserQuota quota = before;
        for (final String limit : limits)
        {
            quota = NOTHING.equals(limit) && 1 == limits.size() ? UserQuota.NONE : changed(quota, limit);
        }
        if (null != quota.problem())
        {
            throw new CommandFailedException(ExitStatus.USAGE, quota.problem(), null);
        }
        return quota;
    }

    private static UserQuota changed(final UserQuota quota, final String limit)
    {
        final int at = limit.indexOf('=');
        final String value = limit.substring(at + 1);
        long operations = quota.operationsPerSecond();
        long bytes = quota.bytesPerSecond();
        int outstanding = quota.outstanding();
        int scans = quota.scans();
        int tables = quota.tables();
        switch (at < 0 ? "" : limit.substring(0, at))
        {
            case "operations" -> operations = number(limit, value, Long.MAX_VALUE);
            case "bytes" -> bytes = number(limit, value, Long.MAX_VALUE);
            case "outstanding" -> outstanding = (int)number(limit, value, Integer.MAX_VALUE);
            case "scans" -> scans = (int)number(limit, value, Integer.MAX_VALUE);
            case "tables" -> tables = (int)number(limit, value, Integer.MAX_VALUE);
            default -> throw invalid(limit);
        }
        return new UserQuota(operations, bytes, outstanding, scans, tables);
    }

    private static long number(final String limit, final String value, final long most)
    {
        if (NOTHING.equals(value))
        {
            return 0;
        }
        try
        {
            final long number = Long.parseLong(value);
            if (number > 0 && number <= most)
            {
                return number;
            }
        }
        catch (final NumberFormatException ex)
        {
            throw invalid(limit);
        }
        throw invalid(limit);
    }

    private static CommandFailedException invalid(final String limit)
    {
        return new CommandFailedException(ExitStatus.USAGE, "limit '" + limit + "': write operations=N, bytes=N, " +
            "outstanding=N, scans=N or tables=N, with N above 0 or 'none'", null);
    }
}
