package io.verbena.resp.command;

import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.session.Session;

import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/** What commands with subcommands have in common. Stateless. */
final class Subcommands
{
    private static final String HELP = "HELP";

    private Subcommands()
    {
    }

    /**
     * Whether the subcommand is one of these, with as many arguments as it takes; else the reply is written: help where
     * that is asked for, or the error.
     *
     * @param arities arguments of each subcommand, both names included; negative: so many or more.
     */
    static boolean is(final Session session, final Map<String, Integer> arities)
    {
        final RespDecoder arguments = session.arguments();
        final String name = arguments.text(1).toUpperCase(Locale.ROOT);
        final Integer arity = arities.get(name);
        if (null == arity && HELP.equals(name) && 2 == arguments.count())
        {
            help(session, arities);
            return false;
        }
        if (null == arity)
        {
            session.writer().error("ERR unknown subcommand '" + arguments.text(1) + "'. Try " +
                arguments.text(0).toUpperCase(Locale.ROOT) + " HELP.");
            return false;
        }
        if (arity > 0 ? arity != arguments.count() : -arity > arguments.count())
        {
            session.writer().error("ERR wrong number of arguments for '" +
                arguments.text(0).toLowerCase(Locale.ROOT) + '|' + name.toLowerCase(Locale.ROOT) + "' command");
            return false;
        }
        session.state().lastSubcommand(name);
        return true;
    }

    /** Replies that the subcommand does not take so many arguments, where its arity does not say so. */
    static void refuse(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        session.writer().error("ERR unknown subcommand or wrong number of arguments for '" + arguments.text(1) +
            "'. Try " + arguments.text(0).toUpperCase(Locale.ROOT) + " HELP.");
    }

    private static void help(final Session session, final Map<String, Integer> arities)
    {
        final TreeSet<String> names = new TreeSet<>(arities.keySet());
        names.add(HELP);
        session.writer().array(1 + names.size());
        session.writer().simple(session.arguments().text(0).toUpperCase(Locale.ROOT) +
            " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
        names.forEach((name) -> session.writer().simple(name));
    }
}
