-- A run history as schema 7 wrote it: two trials, a proof of another code, and the first one --again with that. Never edited, but for
-- its places, its environment and its views, which are written anew.
PRAGMA application_id = 1633840244;
PRAGMA user_version = 7;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE alias (
  key TEXT PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial,
  proof INTEGER NOT NULL REFERENCES proof
) STRICT, WITHOUT ROWID;
INSERT INTO "alias" VALUES('e4fea1802254c5e3591f77bab7284e92b43424313b7d16e8c52f48b2e16e1381',1,1);
INSERT INTO "alias" VALUES('f5377488cbc174e84025fde2f84dffdcb36a4c948cde74edbe456606b1561bb2',2,1);
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'failed', 'timeout', 'interrupted')),
  reason TEXT NOT NULL,
  started_us INTEGER NOT NULL,
  wall_s REAL NOT NULL,
  cpu_s REAL NOT NULL,
  peak_resident_bytes INTEGER NOT NULL,
  signal INTEGER,
  exit_code INTEGER,
  environment INTEGER NOT NULL REFERENCES environment,
  output TEXT NOT NULL
, step INTEGER NOT NULL DEFAULT 0, steps INTEGER NOT NULL DEFAULT 0, main_metric INTEGER REFERENCES metric) STRICT;
INSERT INTO "attempt" VALUES(1,1,'done','',1795423905186329,0.19646512,0.016877,102531072,NULL,0,1,'',2,2,7);
INSERT INTO "attempt" VALUES(2,2,'done','',1795423905414954,0.196846238,0.017273,102662144,NULL,0,1,'',2,2,7);
INSERT INTO "attempt" VALUES(3,1,'done','',1795423911784546,0.197850457,1.72639999999999980972e-02,102518784,NULL,0,1,'',2,2,7);
CREATE TABLE attempt_plugin (
  attempt INTEGER NOT NULL REFERENCES attempt,
  plugin INTEGER NOT NULL REFERENCES plugin, verdict TEXT NOT NULL DEFAULT 'unchecked' CHECK (verdict IN ('passed', 'failed', 'unchecked')), failed_checks TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (attempt, plugin)
) STRICT, WITHOUT ROWID;
INSERT INTO "attempt_plugin" VALUES(1,1,'unchecked','');
INSERT INTO "attempt_plugin" VALUES(1,2,'unchecked','');
INSERT INTO "attempt_plugin" VALUES(2,1,'unchecked','');
INSERT INTO "attempt_plugin" VALUES(2,2,'unchecked','');
INSERT INTO "attempt_plugin" VALUES(3,1,'unchecked','');
INSERT INTO "attempt_plugin" VALUES(3,3,'unchecked','');
CREATE TABLE basis (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT;
INSERT INTO "basis" VALUES(1,'196713a7aabb021a641ee816bea63118b67c245732a105ce3ce0c6cbb2b37055','{"data":"daefd22a21534c4b7af6d3c2cc5c62c680e8d1d873e5da10def6e1edfdbe8126","plugins":{"attention":"99e9a3d9b1f358cd6e55e36cf3f60598cb3732142b139135c9725f9fe1bb92a9","task":"1dac6a9eb631a50a2d666605cacba3864fee0143245f89c705e8952e788fa9a4"},"runtime":3,"torch":"2.11.0"}');
CREATE TABLE curve (
  attempt INTEGER NOT NULL REFERENCES attempt,
  metric INTEGER NOT NULL REFERENCES metric,
  step INTEGER NOT NULL,
  value REAL,
  PRIMARY KEY (attempt, metric, step)
) STRICT, WITHOUT ROWID;
INSERT INTO "curve" VALUES(1,4,1,2.49215769767761230468e+00);
INSERT INTO "curve" VALUES(1,4,2,2.44426679611206054687e+00);
INSERT INTO "curve" VALUES(1,5,1,5.0);
INSERT INTO "curve" VALUES(1,5,2,5.0);
INSERT INTO "curve" VALUES(1,6,1,2.5343960762023924893e+00);
INSERT INTO "curve" VALUES(1,6,2,2.5343960762023924893e+00);
INSERT INTO "curve" VALUES(2,4,1,2.56944417953491210937e+00);
INSERT INTO "curve" VALUES(2,4,2,2.19121980667114257812e+00);
INSERT INTO "curve" VALUES(2,5,1,5.0);
INSERT INTO "curve" VALUES(2,5,2,5.0);
INSERT INTO "curve" VALUES(2,6,1,2.55716953277587899506e+00);
INSERT INTO "curve" VALUES(2,6,2,2.55716953277587899506e+00);
INSERT INTO "curve" VALUES(3,4,1,2.49215769767761230468e+00);
INSERT INTO "curve" VALUES(3,4,2,2.44426679611206054687e+00);
INSERT INTO "curve" VALUES(3,5,1,5.0);
INSERT INTO "curve" VALUES(3,5,2,5.0);
INSERT INTO "curve" VALUES(3,6,1,2.5343960762023924893e+00);
INSERT INTO "curve" VALUES(3,6,2,2.5343960762023924893e+00);
CREATE TABLE environment (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT;
INSERT INTO "environment" VALUES(1,'h1','{"host": "here"}');
CREATE TABLE experiment (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  file TEXT NOT NULL,
  text TEXT NOT NULL,
  overrides TEXT NOT NULL
) STRICT;
INSERT INTO "experiment" VALUES(1,'old','','/home/me/s.toml','[experiment]
name = "old"
[task]
plugin = "listops"
min_length = 5
max_length = 24
max_depth = 3
max_arguments = 4
train = 60
dev = 20
test = 20
[model]
layers = 1
d_model = 8
hidden = 8
[attention]
plugin = "softmax"
[train]
steps = 2
batch = 10
[grid]
seeds = [1, 2]
','[]');
CREATE TABLE experiment_trial (
  experiment INTEGER NOT NULL REFERENCES experiment,
  trial INTEGER NOT NULL REFERENCES trial,
  position INTEGER NOT NULL,
  listed INTEGER NOT NULL, cell INTEGER,
  PRIMARY KEY (experiment, trial)
) STRICT, WITHOUT ROWID;
INSERT INTO "experiment_trial" VALUES(1,1,0,1,NULL);
INSERT INTO "experiment_trial" VALUES(1,2,1,1,NULL);
CREATE TABLE key_part (
  trial INTEGER PRIMARY KEY REFERENCES trial,
  basis INTEGER NOT NULL REFERENCES basis,
  settings_hash INTEGER NOT NULL,
  settings TEXT NOT NULL
) STRICT;
INSERT INTO "key_part" VALUES(1,1,9187390633122204234,'{"attention.plugin":"softmax","model.d_model":8,"model.hidden":8,"model.layers":1,"seed":1,"task.dev":20,"task.max_arguments":4,"task.max_depth":3,"task.max_length":24,"task.min_length":5,"task.plugin":"listops","task.test":20,"task.train":60,"train.batch":10,"train.steps":2}');
INSERT INTO "key_part" VALUES(2,1,2272964818153101014,'{"attention.plugin":"softmax","model.d_model":8,"model.hidden":8,"model.layers":1,"seed":2,"task.dev":20,"task.max_arguments":4,"task.max_depth":3,"task.max_length":24,"task.min_length":5,"task.plugin":"listops","task.test":20,"task.train":60,"train.batch":10,"train.steps":2}');
CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  unit TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('max', 'min', '')),
  description TEXT NOT NULL
) STRICT;
INSERT INTO "metric" VALUES(1,'memory/peak_resident','MiB','min','most resident memory of the trial''s process, as the kernel counts it');
INSERT INTO "metric" VALUES(2,'time/cpu','s','min','processor time of the trial''s process, user and system');
INSERT INTO "metric" VALUES(3,'time/wall','s','min','time from the start of the trial''s process to its end');
INSERT INTO "metric" VALUES(4,'train/loss','','min','mean training loss over the last window of its curve: each of at most 200 points is the mean since the last one');
INSERT INTO "metric" VALUES(5,'dev/accuracy','%','max','share of targets met');
INSERT INTO "metric" VALUES(6,'dev/loss','','min','mean cross-entropy of the targets, in nats');
INSERT INTO "metric" VALUES(7,'test/accuracy','%','max','share of targets met');
INSERT INTO "metric" VALUES(8,'test/loss','','min','mean cross-entropy of the targets, in nats');
INSERT INTO "metric" VALUES(9,'dev/best_step','steps','','the step of the best dev checkpoint: the first of the best in the task''s first metric');
INSERT INTO "metric" VALUES(10,'train/forward_time','ms','min','median time of a training step up to its loss: batch and forward pass');
INSERT INTO "metric" VALUES(11,'train/forward_backward_time','ms','min','median time of a training step up to its gradients');
INSERT INTO "metric" VALUES(12,'train/step_time','ms','min','median time of a training step: batch, forward, backward, optimiser');
INSERT INTO "metric" VALUES(13,'train/step_cpu_time','ms','min','median processor time of a training step, all threads of the process together');
INSERT INTO "metric" VALUES(14,'train/step_spread','%','','how far steps'' times lie apart: the middle half of them over their median, without the first step');
INSERT INTO "metric" VALUES(15,'train/examples_per_second','examples/s','max','batch size over the median step time');
INSERT INTO "metric" VALUES(16,'model/parameters','','min','trained numbers of the whole model');
INSERT INTO "metric" VALUES(17,'memory/peak_tensor','MiB','min','most memory that tensors held at once in training steps: weights, optimiser and activations');
INSERT INTO "metric" VALUES(18,'memory/state','MiB','min','what all layers together hand on from a segment to the next, of one sequence, at the end of training; of models that do');
CREATE TABLE parameter (
  path INTEGER NOT NULL REFERENCES path,
  trial INTEGER NOT NULL REFERENCES trial,
  value INTEGER NOT NULL REFERENCES value,
  PRIMARY KEY (path, trial)
) STRICT, WITHOUT ROWID;
INSERT INTO "parameter" VALUES(1,1,1);
INSERT INTO "parameter" VALUES(1,2,1);
INSERT INTO "parameter" VALUES(2,1,2);
INSERT INTO "parameter" VALUES(2,2,2);
INSERT INTO "parameter" VALUES(3,1,3);
INSERT INTO "parameter" VALUES(3,2,3);
INSERT INTO "parameter" VALUES(4,1,4);
INSERT INTO "parameter" VALUES(4,2,4);
INSERT INTO "parameter" VALUES(5,1,5);
INSERT INTO "parameter" VALUES(5,2,5);
INSERT INTO "parameter" VALUES(6,1,6);
INSERT INTO "parameter" VALUES(6,2,6);
INSERT INTO "parameter" VALUES(7,1,7);
INSERT INTO "parameter" VALUES(7,2,7);
INSERT INTO "parameter" VALUES(8,1,8);
INSERT INTO "parameter" VALUES(8,2,8);
INSERT INTO "parameter" VALUES(9,1,9);
INSERT INTO "parameter" VALUES(9,2,9);
INSERT INTO "parameter" VALUES(10,1,10);
INSERT INTO "parameter" VALUES(10,2,10);
INSERT INTO "parameter" VALUES(11,1,11);
INSERT INTO "parameter" VALUES(11,2,11);
INSERT INTO "parameter" VALUES(12,1,12);
INSERT INTO "parameter" VALUES(12,2,12);
INSERT INTO "parameter" VALUES(13,1,13);
INSERT INTO "parameter" VALUES(13,2,13);
INSERT INTO "parameter" VALUES(14,1,14);
INSERT INTO "parameter" VALUES(14,2,14);
INSERT INTO "parameter" VALUES(15,1,15);
INSERT INTO "parameter" VALUES(15,2,15);
INSERT INTO "parameter" VALUES(16,1,16);
INSERT INTO "parameter" VALUES(16,2,16);
INSERT INTO "parameter" VALUES(17,1,17);
INSERT INTO "parameter" VALUES(17,2,17);
INSERT INTO "parameter" VALUES(18,1,18);
INSERT INTO "parameter" VALUES(18,2,18);
INSERT INTO "parameter" VALUES(19,1,19);
INSERT INTO "parameter" VALUES(19,2,19);
INSERT INTO "parameter" VALUES(20,1,20);
INSERT INTO "parameter" VALUES(20,2,53);
INSERT INTO "parameter" VALUES(21,1,21);
INSERT INTO "parameter" VALUES(21,2,21);
INSERT INTO "parameter" VALUES(22,1,22);
INSERT INTO "parameter" VALUES(22,2,22);
INSERT INTO "parameter" VALUES(23,1,23);
INSERT INTO "parameter" VALUES(23,2,23);
INSERT INTO "parameter" VALUES(24,1,24);
INSERT INTO "parameter" VALUES(24,2,24);
INSERT INTO "parameter" VALUES(25,1,25);
INSERT INTO "parameter" VALUES(25,2,25);
INSERT INTO "parameter" VALUES(26,1,26);
INSERT INTO "parameter" VALUES(26,2,26);
INSERT INTO "parameter" VALUES(27,1,27);
INSERT INTO "parameter" VALUES(27,2,27);
INSERT INTO "parameter" VALUES(28,1,28);
INSERT INTO "parameter" VALUES(28,2,28);
INSERT INTO "parameter" VALUES(29,1,29);
INSERT INTO "parameter" VALUES(29,2,29);
INSERT INTO "parameter" VALUES(30,1,30);
INSERT INTO "parameter" VALUES(30,2,30);
INSERT INTO "parameter" VALUES(31,1,31);
INSERT INTO "parameter" VALUES(31,2,31);
INSERT INTO "parameter" VALUES(32,1,32);
INSERT INTO "parameter" VALUES(32,2,32);
INSERT INTO "parameter" VALUES(33,1,33);
INSERT INTO "parameter" VALUES(33,2,33);
INSERT INTO "parameter" VALUES(34,1,34);
INSERT INTO "parameter" VALUES(34,2,34);
INSERT INTO "parameter" VALUES(35,1,35);
INSERT INTO "parameter" VALUES(35,2,35);
INSERT INTO "parameter" VALUES(36,1,36);
INSERT INTO "parameter" VALUES(36,2,36);
INSERT INTO "parameter" VALUES(37,1,37);
INSERT INTO "parameter" VALUES(37,2,37);
INSERT INTO "parameter" VALUES(38,1,38);
INSERT INTO "parameter" VALUES(38,2,38);
INSERT INTO "parameter" VALUES(39,1,39);
INSERT INTO "parameter" VALUES(39,2,39);
INSERT INTO "parameter" VALUES(40,1,40);
INSERT INTO "parameter" VALUES(40,2,40);
INSERT INTO "parameter" VALUES(41,1,41);
INSERT INTO "parameter" VALUES(41,2,41);
INSERT INTO "parameter" VALUES(42,1,42);
INSERT INTO "parameter" VALUES(42,2,42);
INSERT INTO "parameter" VALUES(43,1,43);
INSERT INTO "parameter" VALUES(43,2,43);
INSERT INTO "parameter" VALUES(44,1,44);
INSERT INTO "parameter" VALUES(44,2,44);
INSERT INTO "parameter" VALUES(45,1,45);
INSERT INTO "parameter" VALUES(45,2,45);
INSERT INTO "parameter" VALUES(46,1,46);
INSERT INTO "parameter" VALUES(46,2,46);
INSERT INTO "parameter" VALUES(47,1,47);
INSERT INTO "parameter" VALUES(47,2,47);
INSERT INTO "parameter" VALUES(48,1,48);
INSERT INTO "parameter" VALUES(48,2,48);
INSERT INTO "parameter" VALUES(49,1,49);
INSERT INTO "parameter" VALUES(49,2,49);
INSERT INTO "parameter" VALUES(50,1,50);
INSERT INTO "parameter" VALUES(50,2,50);
INSERT INTO "parameter" VALUES(51,1,51);
INSERT INTO "parameter" VALUES(51,2,51);
INSERT INTO "parameter" VALUES(52,1,52);
INSERT INTO "parameter" VALUES(52,2,52);
CREATE TABLE path (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO "path" VALUES(1,'attention');
INSERT INTO "path" VALUES(2,'attention.heads');
INSERT INTO "path" VALUES(3,'model.activation');
INSERT INTO "path" VALUES(4,'model.attention_dropout');
INSERT INTO "path" VALUES(5,'model.attention_width');
INSERT INTO "path" VALUES(6,'model.causal');
INSERT INTO "path" VALUES(7,'model.classifier');
INSERT INTO "path" VALUES(8,'model.classifier_hidden');
INSERT INTO "path" VALUES(9,'model.cut');
INSERT INTO "path" VALUES(10,'model.d_model');
INSERT INTO "path" VALUES(11,'model.dropout');
INSERT INTO "path" VALUES(12,'model.hidden');
INSERT INTO "path" VALUES(13,'model.inner_dropout');
INSERT INTO "path" VALUES(14,'model.layers');
INSERT INTO "path" VALUES(15,'model.norm');
INSERT INTO "path" VALUES(16,'model.pooling');
INSERT INTO "path" VALUES(17,'model.positions');
INSERT INTO "path" VALUES(18,'model.segment');
INSERT INTO "path" VALUES(19,'model.tied_output');
INSERT INTO "path" VALUES(20,'seed');
INSERT INTO "path" VALUES(21,'task');
INSERT INTO "path" VALUES(22,'task.data');
INSERT INTO "path" VALUES(23,'task.data_seed');
INSERT INTO "path" VALUES(24,'task.dev');
INSERT INTO "path" VALUES(25,'task.max_arguments');
INSERT INTO "path" VALUES(26,'task.max_depth');
INSERT INTO "path" VALUES(27,'task.max_length');
INSERT INTO "path" VALUES(28,'task.min_length');
INSERT INTO "path" VALUES(29,'task.operator_probability');
INSERT INTO "path" VALUES(30,'task.test');
INSERT INTO "path" VALUES(31,'task.train');
INSERT INTO "path" VALUES(32,'train.accumulate');
INSERT INTO "path" VALUES(33,'train.batch');
INSERT INTO "path" VALUES(34,'train.beta1');
INSERT INTO "path" VALUES(35,'train.beta1_low');
INSERT INTO "path" VALUES(36,'train.beta2');
INSERT INTO "path" VALUES(37,'train.clip');
INSERT INTO "path" VALUES(38,'train.device');
INSERT INTO "path" VALUES(39,'train.dtype');
INSERT INTO "path" VALUES(40,'train.epsilon');
INSERT INTO "path" VALUES(41,'train.evaluate_batches');
INSERT INTO "path" VALUES(42,'train.evaluate_every');
INSERT INTO "path" VALUES(43,'train.learning_rate');
INSERT INTO "path" VALUES(44,'train.loss_piece');
INSERT INTO "path" VALUES(45,'train.schedule');
INSERT INTO "path" VALUES(46,'train.shuffle_labels');
INSERT INTO "path" VALUES(47,'train.steps');
INSERT INTO "path" VALUES(48,'train.stride');
INSERT INTO "path" VALUES(49,'train.test_batches');
INSERT INTO "path" VALUES(50,'train.threads');
INSERT INTO "path" VALUES(51,'train.warmup');
INSERT INTO "path" VALUES(52,'train.weight_decay');
CREATE TABLE plugin (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('attention', 'compression', 'task')),
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  code_identity TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  path TEXT NOT NULL,
  UNIQUE (kind, name, version, code_identity, content_hash, path)
) STRICT;
INSERT INTO "plugin" VALUES(1,'task','listops','1.0.0','1dac6a9eb631a50a2d666605cacba3864fee0143245f89c705e8952e788fa9a4','93bfdde354907fe5fe5ba9ddc4a87e218894a335be8809cf37ef42da4cf18855','/home/me/listops.so');
INSERT INTO "plugin" VALUES(2,'attention','softmax','1.0.0','99e9a3d9b1f358cd6e55e36cf3f60598cb3732142b139135c9725f9fe1bb92a9','5bff8bcfc03f55bc44e25e3fae9ebfedc39ceb4ec617e2837cb0787c94b3de1b','/home/me/softmax.so');
INSERT INTO "plugin" VALUES(3,'attention','softmax','1.0.0','eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee','e149dc4c37cda63e5c23943bb277a30df7039574b0f08a9370b2cee8ab32f346','/home/me/softmax.so');
CREATE TABLE proof (
  id INTEGER PRIMARY KEY,
  proven_us INTEGER NOT NULL,
  before TEXT NOT NULL,
  now TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment
) STRICT;
INSERT INTO "proof" VALUES(1,1795423908697424,'{"plugins":["99e9a3d9b1f358cd6e55e36cf3f60598cb3732142b139135c9725f9fe1bb92a9"]}','{"plugins":["eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"]}',1);
CREATE TABLE proof_attempt (
  proof INTEGER NOT NULL REFERENCES proof,
  attempt INTEGER NOT NULL REFERENCES attempt,
  PRIMARY KEY (proof, attempt)
) STRICT, WITHOUT ROWID;
INSERT INTO "proof_attempt" VALUES(1,1);
CREATE TABLE published_value (
  experiment INTEGER NOT NULL REFERENCES experiment,
  metric TEXT NOT NULL,
  trial INTEGER NOT NULL REFERENCES trial,
  value REAL NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (experiment, metric, trial)
) STRICT, WITHOUT ROWID;
CREATE TABLE resolved (
  trial INTEGER PRIMARY KEY REFERENCES trial,
  json TEXT NOT NULL
) STRICT;
INSERT INTO "resolved" VALUES(1,'{"attention":{"heads":2,"plugin":"softmax"},"model":{"activation":"gelu","attention_dropout":0.0,"attention_width":0,"causal":false,"classifier":"linear","classifier_hidden":0,"cut":"between","d_model":8,"dropout":0.1,"hidden":8,"inner_dropout":0.0,"layers":1,"norm":"pre","pooling":"mean","positions":"learned","segment":0,"tied_output":false},"seed":1,"task":{"data":"","data_seed":0,"dev":20,"max_arguments":4,"max_depth":3,"max_length":24,"min_length":5,"operator_probability":0.25,"plugin":"listops","test":20,"train":60},"train":{"accumulate":1,"batch":10,"beta1":0.9,"beta1_low":0.0,"beta2":0.999,"clip":0.0,"device":"cpu","dtype":"float32","epsilon":1e-06,"evaluate_batches":0,"evaluate_every":0,"learning_rate":0.0001,"loss_piece":0,"schedule":"one-cycle","shuffle_labels":false,"steps":2,"stride":0,"test_batches":0,"threads":1,"warmup":0,"weight_decay":0.0}}');
INSERT INTO "resolved" VALUES(2,'{"attention":{"heads":2,"plugin":"softmax"},"model":{"activation":"gelu","attention_dropout":0.0,"attention_width":0,"causal":false,"classifier":"linear","classifier_hidden":0,"cut":"between","d_model":8,"dropout":0.1,"hidden":8,"inner_dropout":0.0,"layers":1,"norm":"pre","pooling":"mean","positions":"learned","segment":0,"tied_output":false},"seed":2,"task":{"data":"","data_seed":0,"dev":20,"max_arguments":4,"max_depth":3,"max_length":24,"min_length":5,"operator_probability":0.25,"plugin":"listops","test":20,"train":60},"train":{"accumulate":1,"batch":10,"beta1":0.9,"beta1_low":0.0,"beta2":0.999,"clip":0.0,"device":"cpu","dtype":"float32","epsilon":1e-06,"evaluate_batches":0,"evaluate_every":0,"learning_rate":0.0001,"loss_piece":0,"schedule":"one-cycle","shuffle_labels":false,"steps":2,"stride":0,"test_batches":0,"threads":1,"warmup":0,"weight_decay":0.0}}');
CREATE TABLE result (
  metric INTEGER NOT NULL REFERENCES metric,
  attempt INTEGER NOT NULL REFERENCES attempt,
  value REAL,
  PRIMARY KEY (metric, attempt)
) STRICT, WITHOUT ROWID;
INSERT INTO "result" VALUES(1,1,97.78125);
INSERT INTO "result" VALUES(1,2,97.90625);
INSERT INTO "result" VALUES(1,3,97.76953125);
INSERT INTO "result" VALUES(2,1,0.016877);
INSERT INTO "result" VALUES(2,2,0.017273);
INSERT INTO "result" VALUES(2,3,1.72639999999999980972e-02);
INSERT INTO "result" VALUES(3,1,0.19646512);
INSERT INTO "result" VALUES(3,2,0.196846238);
INSERT INTO "result" VALUES(3,3,0.197850457);
INSERT INTO "result" VALUES(4,1,2.44426679611206054687e+00);
INSERT INTO "result" VALUES(4,2,2.19121980667114257812e+00);
INSERT INTO "result" VALUES(4,3,2.44426679611206054687e+00);
INSERT INTO "result" VALUES(5,1,5.0);
INSERT INTO "result" VALUES(5,2,5.0);
INSERT INTO "result" VALUES(5,3,5.0);
INSERT INTO "result" VALUES(6,1,2.5343960762023924893e+00);
INSERT INTO "result" VALUES(6,2,2.55716953277587899506e+00);
INSERT INTO "result" VALUES(6,3,2.5343960762023924893e+00);
INSERT INTO "result" VALUES(7,1,10.0);
INSERT INTO "result" VALUES(7,2,10.0);
INSERT INTO "result" VALUES(7,3,10.0);
INSERT INTO "result" VALUES(8,1,2.59233007431030282319e+00);
INSERT INTO "result" VALUES(8,2,2.4597835540771484375e+00);
INSERT INTO "result" VALUES(8,3,2.59233007431030282319e+00);
INSERT INTO "result" VALUES(9,1,1.0);
INSERT INTO "result" VALUES(9,2,1.0);
INSERT INTO "result" VALUES(9,3,1.0);
INSERT INTO "result" VALUES(10,1,59.965602);
INSERT INTO "result" VALUES(10,2,39.890728);
INSERT INTO "result" VALUES(10,3,30.442652);
INSERT INTO "result" VALUES(11,1,61.336188);
INSERT INTO "result" VALUES(11,2,63.954747);
INSERT INTO "result" VALUES(11,3,31.85441);
INSERT INTO "result" VALUES(12,1,83.521812);
INSERT INTO "result" VALUES(12,2,64.183649);
INSERT INTO "result" VALUES(12,3,48.416608);
INSERT INTO "result" VALUES(13,1,5.9536390000000007916e+00);
INSERT INTO "result" VALUES(13,2,6.02804899999999932447e+00);
INSERT INTO "result" VALUES(13,3,6.070727);
INSERT INTO "result" VALUES(14,1,9.61916323617700754801e+01);
INSERT INTO "result" VALUES(14,2,9.50316520988715893701e+01);
INSERT INTO "result" VALUES(14,3,4.11873898172031687164e+01);
INSERT INTO "result" VALUES(15,1,1.19729203193053336919e+02);
INSERT INTO "result" VALUES(15,2,1.55802921083530151232e+02);
INSERT INTO "result" VALUES(15,3,2.06540697770484058546e+02);
INSERT INTO "result" VALUES(16,1,890.0);
INSERT INTO "result" VALUES(16,2,890.0);
INSERT INTO "result" VALUES(16,3,890.0);
INSERT INTO "result" VALUES(17,1,1.5473175048828125e-01);
INSERT INTO "result" VALUES(17,2,1.5473175048828125e-01);
INSERT INTO "result" VALUES(17,3,1.5473175048828125e-01);
CREATE TABLE running (
  host TEXT NOT NULL,
  process INTEGER NOT NULL,
  started INTEGER NOT NULL,
  key TEXT NOT NULL,
  started_us INTEGER NOT NULL,
  step INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  loss REAL,
  PRIMARY KEY (host, process, started, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  configuration INTEGER NOT NULL
) STRICT;
INSERT INTO "trial" VALUES(1,'38101c69233ea8a1fee41e0af8a1f1ab01d3e6beb9f55451cc6311ec0fccd301',6195157005198846763);
INSERT INTO "trial" VALUES(2,'fef7877f6c7722c9309cf0bbdf89913401e11ca5bff9a8eb11b84f07c4fd593d',-2617322144328436143);
CREATE TABLE value (
  id INTEGER PRIMARY KEY,
  path INTEGER NOT NULL REFERENCES path,
  type TEXT NOT NULL CHECK (type IN ('integer', 'real', 'boolean', 'text')),
  text TEXT NOT NULL,
  number ANY,
  UNIQUE (path, text, type)
) STRICT;
INSERT INTO "value" VALUES(1,1,'text','softmax',NULL);
INSERT INTO "value" VALUES(2,2,'integer','2',2);
INSERT INTO "value" VALUES(3,3,'text','gelu',NULL);
INSERT INTO "value" VALUES(4,4,'real','0.0',0.0);
INSERT INTO "value" VALUES(5,5,'integer','0',0);
INSERT INTO "value" VALUES(6,6,'boolean','false',0);
INSERT INTO "value" VALUES(7,7,'text','linear',NULL);
INSERT INTO "value" VALUES(8,8,'integer','0',0);
INSERT INTO "value" VALUES(9,9,'text','between',NULL);
INSERT INTO "value" VALUES(10,10,'integer','8',8);
INSERT INTO "value" VALUES(11,11,'real','0.1',0.1);
INSERT INTO "value" VALUES(12,12,'integer','8',8);
INSERT INTO "value" VALUES(13,13,'real','0.0',0.0);
INSERT INTO "value" VALUES(14,14,'integer','1',1);
INSERT INTO "value" VALUES(15,15,'text','pre',NULL);
INSERT INTO "value" VALUES(16,16,'text','mean',NULL);
INSERT INTO "value" VALUES(17,17,'text','learned',NULL);
INSERT INTO "value" VALUES(18,18,'integer','0',0);
INSERT INTO "value" VALUES(19,19,'boolean','false',0);
INSERT INTO "value" VALUES(20,20,'integer','1',1);
INSERT INTO "value" VALUES(21,21,'text','listops',NULL);
INSERT INTO "value" VALUES(22,22,'text','',NULL);
INSERT INTO "value" VALUES(23,23,'integer','0',0);
INSERT INTO "value" VALUES(24,24,'integer','20',20);
INSERT INTO "value" VALUES(25,25,'integer','4',4);
INSERT INTO "value" VALUES(26,26,'integer','3',3);
INSERT INTO "value" VALUES(27,27,'integer','24',24);
INSERT INTO "value" VALUES(28,28,'integer','5',5);
INSERT INTO "value" VALUES(29,29,'real','0.25',0.25);
INSERT INTO "value" VALUES(30,30,'integer','20',20);
INSERT INTO "value" VALUES(31,31,'integer','60',60);
INSERT INTO "value" VALUES(32,32,'integer','1',1);
INSERT INTO "value" VALUES(33,33,'integer','10',10);
INSERT INTO "value" VALUES(34,34,'real','0.9',0.9);
INSERT INTO "value" VALUES(35,35,'real','0.0',0.0);
INSERT INTO "value" VALUES(36,36,'real','0.999',0.999);
INSERT INTO "value" VALUES(37,37,'real','0.0',0.0);
INSERT INTO "value" VALUES(38,38,'text','cpu',NULL);
INSERT INTO "value" VALUES(39,39,'text','float32',NULL);
INSERT INTO "value" VALUES(40,40,'real','1e-06',1.0e-06);
INSERT INTO "value" VALUES(41,41,'integer','0',0);
INSERT INTO "value" VALUES(42,42,'integer','0',0);
INSERT INTO "value" VALUES(43,43,'real','0.0001',0.0001);
INSERT INTO "value" VALUES(44,44,'integer','0',0);
INSERT INTO "value" VALUES(45,45,'text','one-cycle',NULL);
INSERT INTO "value" VALUES(46,46,'boolean','false',0);
INSERT INTO "value" VALUES(47,47,'integer','2',2);
INSERT INTO "value" VALUES(48,48,'integer','0',0);
INSERT INTO "value" VALUES(49,49,'integer','0',0);
INSERT INTO "value" VALUES(50,50,'integer','1',1);
INSERT INTO "value" VALUES(51,51,'integer','0',0);
INSERT INTO "value" VALUES(52,52,'real','0.0',0.0);
INSERT INTO "value" VALUES(53,20,'integer','2',2);
CREATE INDEX experiment_trial_by_trial ON experiment_trial (trial);
CREATE INDEX attempt_by_trial ON attempt (trial, outcome);
CREATE INDEX attempt_by_outcome ON attempt (outcome);
CREATE INDEX key_part_by_settings ON key_part (settings_hash);
COMMIT;
