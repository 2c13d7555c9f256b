package io.verbena.cli.admin;

import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.protocol.access.User;
import io.verbena.protocol.message.UserPage;

import java.util.ArrayList;
import java.util.List;

/** What the commands on users ask the meta server. Stateless. */
final class UserCalls
{
    private UserCalls()
    {
    }

    static List<User> users(final MetaCalls meta, final long timeoutNs)
    {
        final List<User> users = new ArrayList<>();
        UserPage page;
        do
        {
            page = meta.result((client) ->
                client.users(users.isEmpty() ? "" : users.getLast().name(), -1, timeoutNs));
            users.addAll(page.users());
        }
        while (page.hasMore());
        return users;
    }

    static User user(final MetaCalls meta, final String name, final long timeoutNs)
    {
        // Whoever has the token gets what the secret is checked with; sent back, that would be a new secret.
        return users(meta, timeoutNs).stream().filter((user) -> user.name().equals(name)).findFirst()
            .map(User::withoutVerifier).orElseThrow(() -> new CommandFailedException(
                ExitStatus.FAILED, "there is no user '" + name + "'", null));
    }

    static void put(final MetaCalls meta, final User user, final long timeoutNs)
    {
        if (null != user.problem())
        {
            throw new CommandFailedException(ExitStatus.USAGE, user.problem(), null);
        }
        meta.result((client) -> client.putUser(user, timeoutNs));
    }

    static void requireName(final String name)
    {
        if (null != User.problem(name))
        {
            throw new CommandFailedException(ExitStatus.USAGE, User.problem(name), null);
        }
    }
}
