package io.verbena.resp.session;

import java.util.Locale;

/** What is known of a client. By the thread of its session; {@code CLIENT LIST} reads it from others, as it happens. */
public final class SessionState
{
    /** The user of a client that has named none. */
    public static final String DEFAULT_USER = "default";

    private final long id;
    private final long createdNs;
    private final String defaultTable;
    private final boolean needsPassword;
    private volatile String name = "";
    private volatile String libraryName = "";
    private volatile String libraryVersion = "";
    private volatile String tableName;
    private volatile String userName;
    private volatile boolean isAuthenticated;
    private volatile int version = 2;
    /** Of each command, so that it is not volatile: others read it some time later. */
    private Command<?> lastCommand;
    private String lastSubcommand;
    private long lastNs;

    /**
     * @param id            of the connection, unique at its node.
     * @param createdNs     by the clock of the worker.
     * @param defaultTable  name of the table that it begins with.
     * @param needsPassword whether it must give a password first.
     */
    public SessionState(final long id, final long createdNs, final String defaultTable, final boolean needsPassword)
    {
        this.id = id;
        this.createdNs = createdNs;
        lastNs = createdNs;
        this.defaultTable = defaultTable;
        this.needsPassword = needsPassword;
        reset();
    }

    /** Everything is as for a new connection. */
    public void reset()
    {
        name = "";
        tableName = defaultTable;
        userName = DEFAULT_USER;
        isAuthenticated = !needsPassword;
        version = 2;
    }

    /** @return number of the connection. */
    public long id()
    {
        return id;
    }

    /** @return when it was made, by the clock of the worker. */
    public long createdNs()
    {
        return createdNs;
    }

    /** @return the name that it gave itself; empty: none. */
    public String name()
    {
        return name;
    }

    /** @param newName that it gave itself. */
    public void name(final String newName)
    {
        name = newName;
    }

    /** @return name of the client's library. */
    public String libraryName()
    {
        return libraryName;
    }

    /** @param newName of the client's library. */
    public void libraryName(final String newName)
    {
        libraryName = newName;
    }

    /** @return version of the client's library. */
    public String libraryVersion()
    {
        return libraryVersion;
    }

    /** @param newVersion of the client's library. */
    public void libraryVersion(final String newVersion)
    {
        libraryVersion = newVersion;
    }

    /** @return name of the selected table. */
    public String tableName()
    {
        return tableName;
    }

    /** @param newName of the selected table. */
    public void tableName(final String newName)
    {
        tableName = newName;
    }

    /** @return name of the table of database 0. */
    public String defaultTable()
    {
        return defaultTable;
    }

    /** @return whether it has given the password, or needs none. */
    public boolean isAuthenticated()
    {
        return isAuthenticated;
    }

    /** It has given the password, or the secret of a user. */
    void authenticate(final String newUserName)
    {
        userName = newUserName;
        isAuthenticated = true;
    }

    /** @return name of the user that it has proved to be. */
    public String userName()
    {
        return userName;
    }

    /** @return whether this node has a password. */
    public boolean needsPassword()
    {
        return needsPassword;
    }

    /** @return version of the protocol, 2 or 3. */
    public int version()
    {
        return version;
    }

    /** @param newVersion of the protocol, 2 or 3. */
    public void version(final int newVersion)
    {
        version = newVersion;
    }

    /**
     * A command begins.
     *
     * @param command that begins.
     * @param nowNs   by the clock of the worker.
     */
    void lastCommand(final Command<?> command, final long nowNs)
    {
        lastCommand = command;
        lastSubcommand = null;
        lastNs = nowNs;
    }

    /** @param name of the subcommand of that command, in any case. */
    public void lastSubcommand(final String name)
    {
        lastSubcommand = name;
    }

    /** @return name of the command that began last; {@code NULL} before the first one. */
    public String lastCommand()
    {
        final Command<?> last = lastCommand;
        final String sub = lastSubcommand;
        return null == last ? "NULL" : last.lowerName() + (null == sub ? "" : "|" + sub.toLowerCase(Locale.ROOT));
    }

    /** @return when that was, or when the connection was made, by the clock of the worker. */
    public long lastNs()
    {
        return lastNs;
    }

    @Override
    public String toString()
    {
        return "id=" + id + " name=" + name + " table=" + tableName;
    }
}
