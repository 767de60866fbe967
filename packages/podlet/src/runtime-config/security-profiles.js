/** Profiles that the kernel confines processes with: seccomp, AppArmor, SELinux. */
import { SecurityProfile_ProfileType } from '@podwire/cri';
/** The first context that says something of a kind decides it: the container's, then the pod's. */
export function requestProfiles(contexts, { root }) {
    const seccomp = contexts.find(({ seccompProfile }) => seccompProfile !== undefined)?.seccompProfile;
    const apparmor = findFurther(contexts, 'appArmorProfile');
    const selinux = findFurther(contexts, 'seLinuxOptions');
    return {
        ...requestSeccomp(seccomp, `${root}/seccomp`),
        ...(apparmor !== undefined && {
            apparmor: toProfile(textOf(apparmor, 'type'), textOf(apparmor, 'localhostProfile')),
        }),
        ...(selinux !== undefined && { selinuxOptions: toSelinux(selinux) }),
    };
}
function requestSeccomp(profile, directory) {
    if (profile === undefined)
        return { seccompProfilePath: '' };
    const { type, localhostProfile } = profile;
    const file = `${directory}/${localhostProfile ?? ''}`;
    const paths = {
        RuntimeDefault: 'runtime/default',
        Unconfined: 'unconfined',
        Localhost: `localhost/${file}`,
    };
    return { seccomp: toProfile(type, file), seccompProfilePath: paths[type] };
}
const profileTypes = {
    RuntimeDefault: SecurityProfile_ProfileType.RuntimeDefault,
    Unconfined: SecurityProfile_ProfileType.Unconfined,
    Localhost: SecurityProfile_ProfileType.Localhost,
};
/** A type that nobody knows confines as usual, rather than not at all. */
function toProfile(type, localhostRef) {
    const profileType = profileTypes[type] ?? SecurityProfile_ProfileType.RuntimeDefault;
    return { profileType, localhostRef: type === 'Localhost' ? localhostRef : '' };
}
function toSelinux(options) {
    const text = (name) => textOf(options, name);
    return { user: text('user'), role: text('role'), type: text('type'), level: text('level') };
}
function findFurther(contexts, name) {
    const values = contexts.map((context) => context[name]);
    return values.find((value) => typeof value === 'object' && value !== null);
}
function textOf(further, name) {
    const value = further[name];
    return typeof value === 'string' ? value : '';
}
//# sourceMappingURL=security-profiles.js.map